package metering

import "github.com/weft-run/weft/host/wasm/engine/bytecode"

// graph is the graph of calls. Its nodes are the functions that the module defines, and after them the classes of
// signatures: an indirect call goes to the class of its type, and from there to every function of that signature whose
// address is taken.
type graph struct {
	m    *bytecode.Module
	code *bytecode.Code
	// class holds the class of each type. Types that are equal have the same.
	class []uint32
	// taken holds, for each class, the functions that an indirect call of it may reach.
	taken [][]uint32
}

func newGraph(m *bytecode.Module, code *bytecode.Code) *graph {
	g := &graph{m: m, code: code, class: make([]uint32, len(m.Types))}
	known := map[string]uint32{}
	for i, t := range m.Types {
		key := string(t.Params) + ":" + string(t.Results)
		class, ok := known[key]
		if !ok {
			class = uint32(len(known))
			known[key] = class
		}
		g.class[i] = class
	}
	g.taken = make([][]uint32, len(known))
	seen := make([]bool, len(m.Funcs))
	take := func(f uint32) {
		if at := int(f) - m.ImportedFuncs; at >= 0 && !seen[at] {
			seen[at] = true
			class := g.class[m.Funcs[at]]
			g.taken[class] = append(g.taken[class], uint32(at))
		}
	}
	for _, r := range m.FuncRefs {
		take(r.Func)
	}
	for _, f := range code.Funcs {
		for _, mark := range f.Marks {
			if m.Wasm[mark.At] == bytecode.OpRefFunc {
				take(mark.Arg)
			}
		}
	}
	return g
}

// next returns the node at or after the given place in the list of those that a node leads to, and the place after it.
func (g *graph) next(node uint32, place int) (to uint32, after int, ok bool) {
	n := len(g.m.Funcs)
	if int(node) >= n {
		if list := g.taken[int(node)-n]; place < len(list) {
			return list[place], place + 1, true
		}
		return 0, place, false
	}
	for marks := g.code.Funcs[node].Marks; place < len(marks); place++ {
		mark := marks[place]
		switch g.m.Wasm[mark.At] {
		case bytecode.OpCall, bytecode.OpReturnCall:
			if int(mark.Arg) >= g.m.ImportedFuncs {
				return mark.Arg - uint32(g.m.ImportedFuncs), place + 1, true
			}
		case bytecode.OpCallIndirect, bytecode.OpReturnCallIndirect:
			return uint32(n) + g.class[mark.Arg], place + 1, true
		}
	}
	return 0, place, false
}

// cyclic says of each function whether it may call itself, by whatever way. It finds the strongly connected components
// after Tarjan, with a stack of its own: a chain of calls may be as long as the module.
func (g *graph) cyclic() []bool {
	n := len(g.m.Funcs) + len(g.taken)
	cyclic := make([]bool, n)
	number := make([]uint32, n) // in the order of the visit, from 1; 0 where there was none yet
	lowest := make([]uint32, n)
	inStack := make([]bool, n)
	var stack []uint32
	type visit struct {
		node  uint32
		place int
	}
	var path []visit
	visited := uint32(0)
	enter := func(node uint32) {
		visited++
		number[node], lowest[node], inStack[node] = visited, visited, true
		stack = append(stack, node)
		path = append(path, visit{node: node})
	}
	for root := range n {
		if number[root] != 0 {
			continue
		}
		enter(uint32(root))
		for len(path) > 0 {
			at := &path[len(path)-1]
			to, place, ok := g.next(at.node, at.place)
			at.place = place
			switch {
			case ok && number[to] == 0:
				enter(to)
			case ok:
				if inStack[to] {
					lowest[at.node] = min(lowest[at.node], number[to])
				}
				cyclic[at.node] = cyclic[at.node] || to == at.node
			default:
				node := at.node
				path = path[:len(path)-1]
				if len(path) > 0 {
					above := path[len(path)-1].node
					lowest[above] = min(lowest[above], lowest[node])
				}
				if lowest[node] == number[node] {
					stack = leave(stack, node, inStack, cyclic)
				}
			}
		}
	}
	return cyclic[:len(g.m.Funcs)]
}

// leave takes a component off the stack, of which node was visited first.
func leave(stack []uint32, node uint32, inStack, cyclic []bool) []uint32 {
	single := stack[len(stack)-1] == node
	for {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		inStack[top] = false
		cyclic[top] = cyclic[top] || !single
		if top == node {
			return stack
		}
	}
}
