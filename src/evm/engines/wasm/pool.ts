import { Machine } from './machine.ts'

/* Machines of this thread. V8 does not count an instance's memory, so used memory counts here until the collector freed it. */

const MIB = 1024 * 1024
/** Limit of all machines together; beyond it no new one is created. */
const MAX_BYTES = 512 * MIB
/** Limit of idle machines. */
const IDLE_BYTES = 64 * MIB
/** Limit of each of them; a larger machine is a spare one. */
const LARGE_BYTES = 8 * MIB
/** Time for which one larger machine is kept: a large message is often followed by another, in this block or the next. */
const SPARE_MS = 10_000

const idle: Machine[] = []
const busy = new Set<Machine>()
/** Machine kept besides the idle ones, however large. */
let spare: { readonly machine: Machine; readonly timer: NodeJS.Timeout } | undefined
/** Sizes and times at which large machines grew last: small messages on one do not keep it. */
const grown = new WeakMap<Machine, { readonly bytes: number; readonly atMs: number }>()
/** Sizes of dropped machines that the collector may not have freed yet. */
const dropped = new Map<number, number>()
const collected = new FinalizationRegistry<number>(id => dropped.delete(id))
let nextId = 1

const sizesOf = (machines: Iterable<Machine>): number => {
  let total = 0
  for (const machine of machines) total += machine.usedBytes
  return total
}

/** Memory of all machines of this thread, bytes. */
export const machineBytes = (): number =>
  sizesOf(busy) +
  sizesOf(idle) +
  (spare?.machine.usedBytes ?? 0) +
  [...dropped.values()].reduce((sum, bytes) => sum + bytes, 0)

/** Takes the spare machine out of its place. */
const removeSpare = (): Machine | undefined => {
  if (spare === undefined) return undefined
  const { machine, timer } = spare
  clearTimeout(timer)
  spare = undefined
  return machine
}

const dropSpareMachine = (): void => {
  const machine = removeSpare()
  if (machine !== undefined) drop(machine)
}

/** Drops the spare machine and the idle ones; called before a full garbage collection. */
export const dropIdleMachines = (): void => {
  dropSpareMachine()
  for (const machine of idle.splice(0)) drop(machine)
}

/** Called after a full garbage collection: dropped machines are freed, even if their finalizers have not run. */
export const forgetDroppedMachines = (): void => dropped.clear()

const drop = (machine: Machine): void => {
  const id = nextId++
  dropped.set(id, machine.usedBytes)
  collected.register(machine, id)
}

/** Kind of machine: pages of codes, and whether it reports steps. */
type Kind = Pick<Machine, 'codePages' | 'isStepping'>

const isOf = (kind: Kind, machine: Machine | undefined): boolean =>
  machine?.codePages === kind.codePages && machine.isStepping === kind.isStepping

const takeSpare = (kind: Kind): Machine | undefined => (isOf(kind, spare?.machine) ? removeSpare() : undefined)

const takeIdle = (kind: Kind): Machine | undefined => {
  const found = idle.findLastIndex(machine => isOf(kind, machine))
  return found < 0 ? undefined : idle.splice(found, 1)[0]
}

/** Returns undefined when there is no memory for another one. */
export const acquireMachine = (kind: Kind): Machine | undefined => {
  let machine = takeSpare(kind) ?? takeIdle(kind)
  if (machine === undefined && machineBytes() <= MAX_BYTES) machine = create(kind)
  if (machine !== undefined) busy.add(machine)
  return machine
}

/** Returns undefined where address space or memory of the system is short. */
const create = ({ codePages, isStepping }: Kind): Machine | undefined => {
  try {
    return new Machine(codePages, isStepping)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export const releaseMachine = (machine: Machine): void => {
  busy.delete(machine)
  machine.hooks = undefined
  if (machine.usedBytes <= LARGE_BYTES && sizesOf(idle) + machine.usedBytes <= IDLE_BYTES) {
    idle.push(machine)
    return
  }
  const nowMs = performance.now()
  let last = grown.get(machine)
  if (last === undefined || last.bytes < machine.usedBytes) {
    last = { bytes: machine.usedBytes, atMs: nowMs }
    grown.set(machine, last)
  }
  dropSpareMachine()
  const timer = setTimeout(
    () => {
      removeSpare()
      replaceMachine(machine)
    },
    Math.max(0, last.atMs + SPARE_MS - nowMs),
  )
  timer.unref()
  spare = { machine, timer }
}

/** Drops a machine. Another takes its place before: none can be created until the collector has freed the dropped one. */
const replaceMachine = (machine: Machine): void => {
  const next = idle.some(other => isOf(machine, other)) ? undefined : create(machine)
  if (next !== undefined) idle.push(next)
  drop(machine)
}
