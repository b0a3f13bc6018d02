package middleware

import (
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table in doc.go is compared with what the zero values really come to: every field of every config, and no other line.
func TestTheTableOfDefaultsIsTrue(t *testing.T) {
	effective := map[string]string{}
	for _, config := range []any{
		BreakerConfig{}.withDefaults(), BudgetConfig{}.withDefaults(), ErrorLimitsConfig{}.withDefaults(), LoggingConfig{}.withDefaults(),
		OverflowConfig{}.withDefaults(),
		PermissionsConfig{},
		PIIConfig{}.withDefaults(), RetryConfig{}.withDefaults(), TimeoutsConfig{}.withDefaults(),
	} {
		v := reflect.ValueOf(config)
		effectiveValues(effective, v.Type().Name(), v)
	}

	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(\w+Config(?:\.\w+)+) +(\S.*)$`).FindAllStringSubmatch(string(source), -1) {
		documented[row[1]] = row[2]
	}
	require.Equal(t, effective, documented)
}

func effectiveValues(into map[string]string, name string, v reflect.Value) {
	if v.Kind() == reflect.Struct && v.Type().PkgPath() == reflect.TypeFor[Limits]().PkgPath() {
		for i := range v.NumField() {
			effectiveValues(into, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
		return
	}
	into[name] = effectiveValue(v)
}

func effectiveValue(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case *slog.Logger:
		if value == slog.Default() {
			return "slog.Default()"
		}
	case []Detector:
		if labels(value) == labels(AllDetectors()) {
			return "AllDetectors()"
		}
	case []string:
		if reflect.DeepEqual(value, DefaultRedactKeys()) {
			return "DefaultRedactKeys()"
		}
	case func() float64:
		if value != nil {
			return "rand.Float64"
		}
	}
	if v.Kind() == reflect.Interface && v.Elem().Type() == reflect.TypeFor[newerHalf]() {
		return "the older half goes"
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Func) && v.IsNil() {
		return "none"
	}
	return fmt.Sprint(v.Interface())
}

func labels(detectors []Detector) string {
	var all []string
	for _, d := range detectors {
		all = append(all, d.Label())
	}
	return strings.Join(all, " ")
}

func TestTheDocumentedKeysAreTheDefault(t *testing.T) {
	source, err := os.ReadFile("redact_handler.go")
	require.NoError(t, err)
	for _, key := range DefaultRedactKeys() {
		require.Regexp(t, `(?s)// DefaultRedactKeys are.*\b`+key+`\b.*func DefaultRedactKeys`, string(source))
	}
}
