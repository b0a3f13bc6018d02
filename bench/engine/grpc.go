package main

import (
	"context"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const grpcModule = "github.com/hashicorp/go-plugin"

// The work as a plugin of hashicorp/go-plugin: a process of its own that is called over gRPC on a local socket. The JSON is
// the bytes of a protobuf message, of a type that protobuf itself has, so that no code is generated.

// handshake is what both sides must say.
var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "WEFT_BENCH", MagicCookieValue: "words"}

const (
	grpcPlugin = "words"
	grpcMethod = "/bench.Words/BeforeRun"
)

// words is the plugin's type on both sides.
type words struct{ plugin.NetRPCUnsupportedPlugin }

var _ plugin.GRPCPlugin = words{}

// GRPCServer registers the work.
func (words) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Words",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "BeforeRun",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var input wrapperspb.BytesValue
				if err := decode(&input); err != nil {
					return nil, err
				}
				output, err := beforeRun(input.GetValue())
				return wrapperspb.Bytes(output), err
			},
		}},
	}, words{})
	return nil
}

// GRPCClient returns the connection.
func (words) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// serveGRPC is the plugin's process.
func serveGRPC() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         plugin.PluginSet{grpcPlugin: words{}},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}

// grpcSession is a plugin's process and the connection to it.
type grpcSession struct {
	client *plugin.Client
	conn   *grpc.ClientConn
}

func openGRPC(context.Context, guest) (session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		Plugins:          plugin.PluginSet{grpcPlugin: words{}},
		Cmd:              exec.Command(self, childGRPC),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
	})
	conn, err := dispense(client)
	if err != nil {
		client.Kill()
		return nil, err
	}
	return &grpcSession{client, conn}, nil
}

func dispense(client *plugin.Client) (*grpc.ClientConn, error) {
	protocol, err := client.Client()
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Dispense(grpcPlugin)
	if err != nil {
		return nil, err
	}
	return raw.(*grpc.ClientConn), nil
}

func (s *grpcSession) call(ctx context.Context, _ string, input []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	var output wrapperspb.BytesValue
	err := s.conn.Invoke(ctx, grpcMethod, wrapperspb.Bytes(input), &output)
	return output.GetValue(), err
}

func (s *grpcSession) close(context.Context) error {
	s.client.Kill()
	return nil
}
