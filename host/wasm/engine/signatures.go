package engine

import (
	"slices"
	"strings"
)

// The modules whose functions a guest may import.
const (
	moduleEnv  = "extism:host/env"
	moduleUser = "extism:host/user"
	moduleWASI = "wasi_snapshot_preview1"
)

// signature is the type of a function.
type signature struct{ params, results []string }

func (s signature) equal(params, results []string) bool {
	return slices.Equal(s.params, params) && slices.Equal(s.results, results)
}

// String writes a signature as people do: "func (i64, i64) -> i32".
func (s signature) String() string {
	text := "func (" + strings.Join(s.params, ", ") + ")"
	if len(s.results) > 0 {
		text += " -> " + strings.Join(s.results, ", ")
	}
	return text
}

// types reads a signature in short: a letter for each parameter and, after a colon, for each result; i is i32, I is i64.
func types(short string) signature {
	params, results, _ := strings.Cut(short, ":")
	spell := func(letters string) (names []string) {
		for _, l := range letters {
			names = append(names, map[rune]string{'i': "i32", 'I': "i64"}[l])
		}
		return names
	}
	return signature{params: spell(params), results: spell(results)}
}

// wasiSignatures holds the functions of wasi_snapshot_preview1. A test compares them to those that the runtime has.
var wasiSignatures = map[string]signature{
	"args_get": types("ii:i"), "args_sizes_get": types("ii:i"),
	"environ_get": types("ii:i"), "environ_sizes_get": types("ii:i"),
	"clock_res_get": types("ii:i"), "clock_time_get": types("iIi:i"),
	"fd_advise": types("iIIi:i"), "fd_allocate": types("iII:i"), "fd_close": types("i:i"), "fd_datasync": types("i:i"),
	"fd_fdstat_get": types("ii:i"), "fd_fdstat_set_flags": types("ii:i"), "fd_fdstat_set_rights": types("iII:i"),
	"fd_filestat_get": types("ii:i"), "fd_filestat_set_size": types("iI:i"),
	"fd_filestat_set_times": types("iIIi:i"), "fd_pread": types("iiiIi:i"), "fd_prestat_get": types("ii:i"),
	"fd_prestat_dir_name": types("iii:i"), "fd_pwrite": types("iiiIi:i"), "fd_read": types("iiii:i"),
	"fd_readdir": types("iiiIi:i"), "fd_renumber": types("ii:i"), "fd_seek": types("iIii:i"), "fd_sync": types("i:i"),
	"fd_tell": types("ii:i"), "fd_write": types("iiii:i"),
	"path_create_directory": types("iii:i"), "path_filestat_get": types("iiiii:i"),
	"path_filestat_set_times": types("iiiiIIi:i"), "path_link": types("iiiiiii:i"), "path_open": types("iiiiiIIii:i"),
	"path_readlink": types("iiiiii:i"), "path_remove_directory": types("iii:i"), "path_rename": types("iiiiii:i"),
	"path_symlink": types("iiiii:i"), "path_unlink_file": types("iii:i"),
	"poll_oneoff": types("iiii:i"), "proc_exit": types("i"), "proc_raise": types("i:i"), "sched_yield": types(":i"),
	"random_get":  types("ii:i"),
	"sock_accept": types("iii:i"), "sock_recv": types("iiiiii:i"), "sock_send": types("iiiii:i"),
	"sock_shutdown": types("ii:i"),
}

// envSignatures holds the functions of extism:host/env: those of the kernel, and those that the host answers. A test
// compares them to what the kernel exports.
var envSignatures = map[string]signature{
	"alloc": types("I:I"), "free": types("I"), "length": types("I:I"), "length_unsafe": types("I:I"),
	"load_u8": types("I:i"), "load_u64": types("I:I"), "store_u8": types("Ii"), "store_u64": types("II"),
	"input_set": types("II"), "input_offset": types(":I"), "input_length": types(":I"),
	"input_load_u8": types("I:i"), "input_load_u64": types("I:I"),
	"output_set": types("II"), "output_offset": types(":I"), "output_length": types(":I"),
	"error_set": types("I"), "error_get": types(":I"), "reset": types(""), "memory_bytes": types(":I"),
	"config_get": types("I:I"), "var_get": types("I:I"), "var_set": types("II"),
	"http_request": types("II:I"), "http_status_code": types(":i"), "http_headers": types(":I"),
	"log_trace": types("I"), "log_debug": types("I"), "log_info": types("I"), "log_warn": types("I"), "log_error": types("I"),
	"get_log_level": types(":i"),
}
