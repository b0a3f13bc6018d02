package engine

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/linear"
)

// snapshot is the state of a module after its start and init: what every call begins with. All instances share it, and
// nothing changes it.
type snapshot struct {
	image *linear.Image
	// globals are the values of the mutable globals, in the order of artifact.globals.
	globals []uint64
}

// snapshot keeps the state that the instance has. The instance is not changed.
func (i *instance) snapshot() (*snapshot, error) {
	image, err := linear.Capture(i.memory)
	if err != nil {
		return nil, fmt.Errorf("%s: keeping the state after its start: %w", i.module.name, err)
	}
	return &snapshot{image: image, globals: values(i.globals)}, nil
}

func values(globals []api.MutableGlobal) []uint64 {
	list := make([]uint64, len(globals))
	for n, g := range globals {
		list[n] = g.Get()
	}
	return list
}

// become gives a new instance the state of a snapshot. Its memory may have to grow for that.
func (i *instance) become(state *snapshot) error {
	size := state.image.Size()
	if missing := size - len(i.memory.Bytes()); missing > 0 {
		if _, ok := i.guest.Memory().Grow(uint32(missing / PageSize)); !ok {
			return i.noHostMemory(int64(size))
		}
	}
	if err := i.memory.Adopt(state.image); err != nil {
		return fmt.Errorf("%s: taking over the state after its start: %w", i.module.name, err)
	}
	i.restoreGlobals(state)
	return nil
}

func (i *instance) restoreGlobals(state *snapshot) {
	for n, g := range i.globals {
		g.Set(state.globals[n])
	}
}

// keepShared is how large the memory that a guest shares with the host may have grown in an instance that is kept, unless
// the instance has what no other one has.
const keepShared = 8 * mib

// settle ends what belongs to a call, and says whether the instance can serve another one at all.
func (i *instance) settle() bool {
	if i.late || i.guest.IsClosed() {
		return false
	}
	i.forget()
	return i.module.spec.Shared || !i.altered && i.opened == 0 && len(i.shared.Bytes()) <= keepShared
}

// forget drops what the host keeps for a call.
func (i *instance) forget() {
	if i.kernel != nil {
		i.kernel.Reset()
	}
	i.logs, i.world = logs{}, &i.module.spec.World
	if !i.module.spec.Shared {
		i.clearVars()
	}
}

// clean makes the instance as it was before the call, and says whether that could be done. An instance that it could not
// be done to must be closed.
func (i *instance) clean() bool {
	state := i.beginning.state
	if i.own != nil {
		state = i.own
	}
	switch {
	case !i.settle():
		return false
	case i.module.spec.Shared:
		return true
	case state == nil || !i.shrink(state) || !i.memory.Restore():
		return false
	}
	i.restoreGlobals(state)
	return i.own == nil || i.putBack()
}

// keepOwn keeps the state that an instance of a module with shadows has, for this instance alone.
func (i *instance) keepOwn() error {
	if _, err := i.act(exportKeep); err != nil {
		return err
	}
	own, err := i.snapshot()
	if err != nil {
		return err
	}
	i.own = own
	if size := int64(own.image.Size()); i.budget.ledger.take(size) {
		i.owned = size
	} else {
		return i.noHostMemory(size)
	}
	if err := i.memory.Adopt(own.image); err != nil {
		return fmt.Errorf("%s: keeping the state after its start: %w", i.module.name, err)
	}
	return nil
}

// putBack makes tables and references as keepOwn found them, and says whether that could be done.
func (i *instance) putBack() bool {
	if differs, err := i.act(exportDiffers); err != nil || differs != 0 {
		return false
	}
	_, err := i.act(exportPutBack)
	return err == nil
}

// act calls a function that was added to the module.
func (i *instance) act(export string) (uint32, error) {
	i.begin(context.Background(), export, bounds{time: Unlimited, fuel: Unlimited})
	defer i.end()
	i.stack[0] = 0
	err := i.function(export).CallWithStack(i.context, i.stack[:])
	return uint32(i.stack[0]), err
}

// shrink makes a memory that the call has grown as large as it was, and says whether it is so for the runtime as well.
func (i *instance) shrink(state *snapshot) bool {
	if len(i.memory.Bytes()) == state.image.Size() {
		return true
	}
	memory := i.guest.Memory()
	return i.memory.Shrink(func() bool {
		_, ok := memory.Grow(1)
		return ok
	}) && int(memory.Size()) == state.image.Size()
}

// rest stops counting what an instance that no call uses shares with others.
func (i *instance) rest() {
	if i.beginning.state == nil || i.module.spec.Shared || i.resting > 0 {
		return
	}
	i.resting = max(0, int64(len(i.memory.Bytes()))-i.memory.Private())
	i.budget.ledger.give(i.resting)
}

// wake counts it again, and says whether there was room for that. The guest may write to all of it.
func (i *instance) wake() bool {
	if i.resting > 0 && !i.budget.ledger.take(i.resting) {
		return false
	}
	i.resting = 0
	return true
}
