package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/host/config"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/internal/nearest"
)

// modelFlags name another model than the config does.
type modelFlags struct {
	model     string
	baseURL   string
	apiKeyEnv string
}

func (f *modelFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.model, "model", "", "let this model answer in place of the config's: offline, or openai:NAME")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "where the model's protocol begins, as in http://localhost:11434/v1; no key is sent there without --api-key-env, and of the config's model only name and api stay")
	cmd.Flags().StringVar(&f.apiKeyEnv, "api-key-env", "", "the environment variable that holds the model's key (default OPENAI_API_KEY for OpenAI itself)")
	_ = cmd.RegisterFlagCompletionFunc("model", cobra.FixedCompletions( // the flag was defined above
		[]string{config.ModelOffline, config.ModelOpenAI + ":"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// override is the config's model with what the flags say.
func (f *modelFlags) override(cmd *cobra.Command, m config.Model) (config.Model, error) {
	changed := cmd.Flags().Changed
	if changed("model") {
		named, err := f.named(m)
		if err != nil {
			return m, &usageError{cmd, err}
		}
		m = named
	}
	if !changed("base-url") && !changed("api-key-env") {
		return m, nil
	}
	if m.Provider != config.ModelOpenAI {
		return m, &usageError{cmd, fmt.Errorf("--base-url and --api-key-env need a model of openai, and the model is %s; --model openai:NAME names one", m.Provider)}
	}
	if changed("base-url") {
		if f.baseURL == "" {
			return m, &usageError{cmd, errors.New("--base-url is empty")}
		}
		// Another service: what is meant for the config's, its key above all, does not go there.
		m.OpenAI = openai.Config{Model: m.OpenAI.Model, API: m.OpenAI.API, BaseURL: f.baseURL}
		m.APIKey = config.Variable{}
	}
	if changed("api-key-env") {
		v, err := config.NamedVariable(f.apiKeyEnv)
		if err != nil {
			return m, &usageError{cmd, fmt.Errorf("--api-key-env: %w", err)}
		}
		m.APIKey = v
	}
	if err := m.Check(); err != nil {
		if changed("base-url") {
			err = fmt.Errorf("%w (in a weft.yaml, with base_url)", err)
		}
		return m, &usageError{cmd, err}
	}
	return m, nil
}

// named is the model that --model names. Of a model of the same provider all but the name stays.
func (f *modelFlags) named(m config.Model) (config.Model, error) {
	provider, name, _ := strings.Cut(f.model, ":")
	switch {
	case provider == config.ModelOffline && f.model != provider:
		return m, errors.New("--model offline takes no name")
	case provider == config.ModelOffline:
		return config.Model{Provider: provider}, nil
	case provider != config.ModelOpenAI:
		hint := ""
		if !strings.Contains(f.model, ":") {
			hint = ": did you mean openai:" + f.model + "?"
		}
		if w := nearest.Word(provider, config.ModelProviders()); w != "" {
			hint = ": did you mean " + w + "?"
		}
		return m, fmt.Errorf("--model %q is not offline or openai:NAME%s", f.model, hint)
	case strings.TrimSpace(name) == "":
		return m, errors.New("--model openai needs the name of a model, as in openai:gpt-5-mini")
	case m.Provider != config.ModelOpenAI:
		m = config.Model{Provider: provider, APIKey: config.Variable{Name: config.DefaultKeyVariable}}
	}
	m.OpenAI.Model = name
	return m, nil
}
