import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { EngineMessage } from '../../engine.ts'
import { loadAccount, loadCode } from './load-state.ts'
import type { Machine } from './machine.ts'
import { ACCOUNT, STATUS } from './protocol.ts'
import type { RunState } from './run-state.ts'

/** Start of a message: the status of its first frame, and the address of the contract that it creates. */
export interface MessageStart {
  readonly status: number
  readonly created: Hex | null
}

/** Warms addresses up, loads the first accounts, and opens the first frame. Synchronous where nothing is awaited. */
export const startMessage = (run: RunState, message: EngineMessage): MessageStart | Promise<MessageStart> => {
  const { machine } = run
  const { from, to } = message
  const sender = machine.senderOf(from, run.since('berlin'), run.since('shanghai'))
  const target = to === null ? 0 : machine.entryOf(to)
  if (run.since('berlin')) warmUp(machine, message, target)
  return to === null ? beginCreation(run, message, sender) : beginCall(run, message, sender, target)
}

/** EIP-2929, EIP-2930, EIP-3651; precompiles are warm from the moment they are loaded. */
const warmUp = (machine: Machine, { warm, accessList }: EngineMessage, target: number): void => {
  if (target !== 0) machine.wasm.warm(target)
  if (accessList.length === 0 && (warm === undefined || warm.length === 0)) return
  const warmAddress = (address: Hex): number => {
    const entry = machine.entryOf(address)
    machine.wasm.warm(entry)
    return entry
  }
  for (const address of warm ?? []) warmAddress(address)
  for (const { address, storageKeys } of accessList) {
    const entry = warmAddress(address)
    for (const key of storageKeys) {
      machine.putWord(key)
      machine.wasm.warmKey(entry)
    }
  }
}

type Start = MessageStart | Promise<MessageStart>

const beginCall = (run: RunState, message: EngineMessage, sender: number, target: number): Start => {
  const { machine } = run
  const first = loadAccount(run, sender)
  const second = loadCode(run, target)
  const loadDelegate = (): Promise<void> | undefined => {
    const runs = machine.wasm.delegate(target)
    return runs === 0 ? undefined : loadCode(run, runs)
  }
  const start = (): MessageStart => startCall(machine, message, sender, target)
  if (first === undefined && second === undefined) return loadDelegate()?.then(start) ?? start()
  return Promise.all([first, second]).then(loadDelegate).then(start)
}

const startCall = (machine: Machine, message: EngineMessage, sender: number, target: number): MessageStart => {
  const { value, gas, data } = message
  const runs = machine.wasm.delegate(target)
  if (runs !== 0) machine.wasm.warm(runs)
  assert(value <= machine.readWord(sender), 'the sender has the value')
  if (!machine.putInput(data)) return { status: STATUS.exhausted, created: null }
  machine.writeExchange(value)
  const status = machine.wasm.startCall(sender, target, runs === 0 ? target : runs, gas, data.byteLength)
  return { status, created: null }
}

const beginCreation = (run: RunState, message: EngineMessage, sender: number): Start => {
  const { machine } = run
  const create = (): Start => {
    const entry = machine.wasm.createdBy(sender, machine.view.getBigUint64(sender + ACCOUNT.nonce, true) - 1n)
    const created = machine.addressOf(entry)
    if (run.since('berlin')) machine.wasm.warm(entry)
    const start = (): MessageStart => ({ status: startCreation(run, message, sender, entry), created })
    return loadAccount(run, entry)?.then(start) ?? start()
  }
  return loadAccount(run, sender)?.then(create) ?? create()
}

const startCreation = (run: RunState, message: EngineMessage, sender: number, created: number): number => {
  const { machine } = run
  const { value, gas, data } = message
  assert(value <= machine.readWord(sender), 'the sender has the value')
  if (!machine.putInput(data)) return STATUS.exhausted
  machine.writeExchange(value)
  return machine.wasm.startCreation(sender, created, gas, data.byteLength)
}
