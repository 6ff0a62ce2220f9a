import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../state/account.ts'
import { isPrecompile } from '../../moved-precompiles.ts'
import { ACCOUNT, FLAG, SLOT } from './protocol.ts'
import type { RunState } from './run-state.ts'

/* State reads requested by the module: accounts, codes and slots, each once per message. */

/** Returns a promise where reads are asynchronous. A tracer reads the code as well: of the contract that a creation meets. */
export const loadAccount = (run: RunState, entry: number): Promise<void> | undefined => {
  const address = run.machine.addressOf(entry)
  const waiting = run.options.prefetch?.[run.machine.isStepping ? 'code' : 'account'](address)
  if (waiting !== undefined) return waiting.then(() => putAccount(run, entry, address))
  putAccount(run, entry, address)
  return undefined
}

const putAccount = (run: RunState, entry: number, address: Hex): void => {
  const { machine, journal, rules } = run
  const { view } = machine
  if (view.getUint32(entry + ACCOUNT.loaded, true) !== 0) return
  const account = journal.account(address)
  let flags = 0
  if (account !== undefined) {
    const { balance, nonce, codeHash, storageRoot } = account
    flags = FLAG.exists
    machine.writeWord(entry + ACCOUNT.balance, balance)
    view.setBigUint64(entry + ACCOUNT.nonce, BigInt(nonce), true)
    if (storageRoot !== EMPTY_ROOT) view.setUint32(entry + ACCOUNT.hasStorage, 1, true)
    if (codeHash !== EMPTY_CODE_HASH) {
      flags |= FLAG.hasCode | FLAG.hashKnown
      machine.bytes.hexWrite(codeHash.slice(2), entry + ACCOUNT.codeHash, 32)
    }
  }
  view.setUint32(entry + ACCOUNT.flags, flags, true)
  view.setUint32(entry + ACCOUNT.loaded, 1, true)
  if (account !== undefined && flags & FLAG.hasCode) machine.codes.useKnown(entry, account.codeHash)
  const { moves } = run.options
  if (isPrecompile(rules, moves, address))
    view.setUint32(entry + ACCOUNT.precompile, Number(moves?.get(address) ?? address), true)
  if (rules.precompiles.has(address) && run.since('berlin')) view.setUint32(entry + ACCOUNT.warm, 1, true)
}

/** Loads the account too if needed. */
export const loadCode = (run: RunState, entry: number): Promise<void> | undefined => {
  const address = run.machine.addressOf(entry)
  const waiting = run.options.prefetch?.code(address)
  if (waiting !== undefined) return waiting.then(() => putCode(run, entry, address))
  putCode(run, entry, address)
  return undefined
}

const putCode = (run: RunState, entry: number, address: Hex): void => {
  const { machine, journal } = run
  putAccount(run, entry, address)
  if (machine.wasm.lacksCode(entry) === 0) return
  const hash = machine.readHex(entry + ACCOUNT.codeHash, 32)
  if (!machine.codes.useKnown(entry, hash)) journal.useCode(address, code => machine.codes.add(entry, hash, code))
}

export const loadSlot = (run: RunState, slot: number): Promise<void> | undefined => {
  const { machine, options } = run
  const owner = machine.view.getUint32(slot + SLOT.owner, true)
  const address = machine.addressOf(owner)
  machine.wasm.showKey(slot)
  const key = machine.readHex(machine.exchange, 32)
  // An account created by this message has only the storage it wrote itself.
  const isNew = (machine.view.getUint32(owner + ACCOUNT.flags, true) & FLAG.created) !== 0
  const waiting = isNew ? undefined : options.prefetch?.slot(address, key)
  const put = (): void => {
    machine.putWord(isNew ? ZERO_HASH : run.journal.readStorage(address, key))
    machine.wasm.provideSlot(slot)
  }
  if (waiting !== undefined) return waiting.then(put)
  put()
  return undefined
}
