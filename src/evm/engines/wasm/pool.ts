import { Machine } from './machine.ts'

/*
 * Machines of this thread. The memory of an instance cannot shrink, and V8 neither counts it nor collects garbage for its sake: it is
 * counted here, up to what the collector has given back.
 */

const MIB = 1024 * 1024
/** All machines together; beyond it no new one is made. */
const MOST_BYTES = 384 * MIB
/** Those that wait for a message. */
const IDLE_BYTES = 64 * MIB

const idle: Machine[] = []
const busy = new Set<Machine>()
/** Sizes of dropped machines that the collector has perhaps not freed yet. */
const dropped = new Map<number, number>()
const collected = new FinalizationRegistry<number>(id => dropped.delete(id))
let nextId = 1

const sum = (sizes: Iterable<number>): number => {
  let total = 0
  for (const size of sizes) total += size
  return total
}
const sizesOf = (machines: Iterable<Machine>): number => {
  let total = 0
  for (const machine of machines) total += machine.byteLength
  return total
}

/** Memory of all machines of this thread, bytes. */
export const machineBytes = (): number => sizesOf(busy) + sizesOf(idle) + sum(dropped.values())

/** To be called after a full garbage collection: dropped machines are gone, though their finalizers have not run. */
export const forgetDropped = (): void => dropped.clear()

/** undefined: there is no memory for another one. */
export const takeMachine = (layout: number): Machine | undefined => {
  const found = idle.findLastIndex(machine => machine.layout === layout)
  if (found < 0 && machineBytes() > MOST_BYTES) return undefined
  const machine = found < 0 ? new Machine(layout) : (idle.splice(found, 1)[0] as Machine)
  busy.add(machine)
  return machine
}

export const giveBack = (machine: Machine): void => {
  busy.delete(machine)
  if (sizesOf(idle) + machine.byteLength <= IDLE_BYTES) {
    idle.push(machine)
    return
  }
  const id = nextId++
  dropped.set(id, machine.byteLength)
  collected.register(machine, id)
}
