package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// This file is the only one that names a version of the semantic conventions.

const schemaURL = semconv.SchemaURL

// The operations of the conventions.
var (
	operationAgent = semconv.GenAIOperationNameInvokeAgent
	operationChat  = semconv.GenAIOperationNameChat
	operationTool  = semconv.GenAIOperationNameExecuteTool
)

// The attributes of the conventions.
const (
	keyProvider      = semconv.GenAIProviderNameKey
	keyAgentName     = semconv.GenAIAgentNameKey
	keyConversation  = semconv.GenAIConversationIDKey
	keyOutputType    = semconv.GenAIOutputTypeKey
	keyModel         = semconv.GenAIRequestModelKey
	keyTemperature   = semconv.GenAIRequestTemperatureKey
	keyTopP          = semconv.GenAIRequestTopPKey
	keyMaxTokens     = semconv.GenAIRequestMaxTokensKey
	keySeed          = semconv.GenAIRequestSeedKey
	keyStop          = semconv.GenAIRequestStopSequencesKey
	keyStream        = semconv.GenAIRequestStreamKey
	keyResponseID    = semconv.GenAIResponseIDKey
	keyResponseModel = semconv.GenAIResponseModelKey
	keyFinishReasons = semconv.GenAIResponseFinishReasonsKey
	keyFirstChunk    = semconv.GenAIResponseTimeToFirstChunkKey
	keyInputTokens   = semconv.GenAIUsageInputTokensKey
	keyOutputTokens  = semconv.GenAIUsageOutputTokensKey
	keyCachedTokens  = semconv.GenAIUsageCacheReadInputTokensKey
	keyThoughtTokens = semconv.GenAIUsageReasoningOutputTokensKey
	keyToolName      = semconv.GenAIToolNameKey
	keyToolCallID    = semconv.GenAIToolCallIDKey
	keyToolType      = semconv.GenAIToolTypeKey
	keyInput         = semconv.GenAIInputMessagesKey
	keyOutput        = semconv.GenAIOutputMessagesKey
	keyInstructions  = semconv.GenAISystemInstructionsKey
	keyArguments     = semconv.GenAIToolCallArgumentsKey
	keyResult        = semconv.GenAIToolCallResultKey
	keyErrorType     = semconv.ErrorTypeKey
	keyHTTPStatus    = semconv.HTTPResponseStatusCodeKey
	keyServerAddress = semconv.ServerAddressKey
	keyServerPort    = semconv.ServerPortKey
)

// The values of the conventions.
const (
	outputTypeJSON   = "json"
	toolTypeFunction = "function"
	unknownName      = "_OTHER" // for what has no word
)

// longestIdentifier is how many bytes are kept of an id or a name that a model or a service wrote.
const longestIdentifier = 256

// The attributes of this project.
const (
	keyRunID      = attribute.Key("weft.run.id")
	keySourceID   = attribute.Key("weft.source.id")
	keySourceType = attribute.Key("weft.source.type")
	keyHook       = attribute.Key("weft.hook")
	keyLayer      = attribute.Key("weft.layer")
	keyMessages   = attribute.Key("weft.added.messages")
	keyAddedLines = attribute.Key("weft.added.instructions")
	keyTools      = attribute.Key("weft.added.tools")
	keySkipped    = attribute.Key("weft.skipped")
	keyTerminated = attribute.Key("weft.terminated")
	keyContentCut = attribute.Key("weft.content.cut")

	prefixCost = "weft.cost."
)

// The metrics of this project.
const (
	runDurationName  = "weft.run.duration"
	hookDurationName = "weft.hook.duration"
)

// The conventions' instruments.
var (
	newTokenUsage        = genaiconv.NewClientTokenUsage
	newOperationDuration = genaiconv.NewClientOperationDuration
	newFirstChunk        = genaiconv.NewClientOperationTimeToFirstChunk

	tokenTypeInput  = semconv.GenAITokenTypeInput
	tokenTypeOutput = semconv.GenAITokenTypeOutput
)

// The bounds of histograms that the conventions ask for, and for hooks a finer one: most take less than a millisecond.
var (
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	hookBounds     = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30}
)
