import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { ACCOUNT, FLAG, SLOT } from './protocol.ts'
import type { RunState } from './run-state.ts'

/** Writes the changes of the message to the journal; returns the accounts to delete at the end of the transaction. */
export const writeChangesToJournal = (run: RunState): readonly Hex[] => {
  const { machine } = run
  const { wasm, view } = machine
  const destroyed: Hex[] = []
  const onlyNew = run.since('cancun')
  for (let i = wasm.nextChanged(0); i >= 0; i = wasm.nextChanged(i + 1)) {
    const entry = wasm.usedAccount(i)
    const flags = view.getUint32(entry + ACCOUNT.flags, true)
    const address = machine.addressOf(entry)
    drainAccount(run, entry, address, flags)
    if (flags & FLAG.destroyed && (!onlyNew || flags & FLAG.created)) destroyed.push(address)
  }
  drainSlots(run)
  return destroyed
}

const drainAccount = ({ machine, journal }: RunState, entry: number, address: Hex, flags: number): void => {
  const { view } = machine
  if (flags & FLAG.created) journal.createAccount(address)
  if ((flags & FLAG.exists) === 0) {
    journal.touch(address)
    return
  }
  const balance = machine.readWord(entry + ACCOUNT.balance)
  if (balance !== journal.balance(address) || !journal.exists(address)) journal.setBalance(address, balance)
  else journal.touch(address)
  const nonce = view.getBigUint64(entry + ACCOUNT.nonce, true)
  if (nonce !== BigInt(journal.nonce(address))) journal.setNonce(address, uint64FromBigint(nonce))
  if (flags & FLAG.created && flags & FLAG.hasCode) {
    const at = view.getUint32(entry + ACCOUNT.code, true)
    const size = view.getUint32(entry + ACCOUNT.codeSize, true)
    journal.setCode(address, machine.copy(at, size))
  }
}

const drainSlots = ({ machine, journal }: RunState): void => {
  const { wasm, view, exchange } = machine
  let owner = 0
  let address: Hex = ZERO_ADDRESS
  for (let i = wasm.nextChange(0); i >= 0; i = wasm.nextChange(i + 1)) {
    const holder = view.getUint32(wasm.usedSlot(i) + SLOT.owner, true)
    if (holder !== owner) {
      owner = holder
      address = machine.addressOf(owner)
    }
    journal.setStorage(address, machine.readHex(exchange, 32), machine.readHex(exchange + 32, 32))
  }
}
