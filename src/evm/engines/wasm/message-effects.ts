import { bytesToBigint, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { BLOOM_BYTES } from '../../../primitives/receipt/bloom.ts'
import { INTERNAL_KINDS, type InternalTransfer } from '../../../primitives/receipt/internal-transfer.ts'
import { type Log, rememberDigest } from '../../../primitives/receipt/log.ts'
import type { EngineResult } from '../../engine.ts'
import { transferLogOf } from '../transfer-logs.ts'
import type { Machine } from './machine.ts'
import { INTERNAL, INTERNAL_TO, LOG } from './protocol.ts'

/** Number of logs from which their bloom and encoding are computed by the module. */
const DIGEST_LOGS = 8

/** Returns the logs and internal transfers that the module wrote, each in order; `transfers`: also the logs with those of transfers. */
export const effectsOf = (
  machine: Machine,
  transfers: Log[] | undefined,
): Required<Pick<EngineResult, 'logs' | 'internal'>> => {
  const { view, wasm } = machine
  const end = wasm.logsEndAt()
  const logs: Log[] = []
  const internal: InternalTransfer[] = []
  let at = wasm.logsStartAt()
  if (at === end) return { logs, internal }
  let entry = -1
  let address: Hex = ZERO_ADDRESS
  while (at < end) {
    const account = view.getUint32(at, true)
    if (account !== entry) {
      entry = account
      address = machine.addressOf(entry)
    }
    const count = view.getUint32(at + LOG.topics, true)
    const size = view.getUint32(at + LOG.size, true)
    let from = at + LOG.head
    if (count >= INTERNAL.callTransfer) {
      const to = machine.addressOf(view.getUint32(at + INTERNAL_TO, true))
      const value = bytesToBigint(machine.copy(from, size))
      const kind = INTERNAL_KINDS[count - INTERNAL.callTransfer]
      if (kind !== undefined) internal.push({ kind, from: address, to, value })
      if (value > 0n) transfers?.push(transferLogOf(address, to, value))
      at = Math.ceil((from + size) / LOG.align) * LOG.align
      continue
    }
    const topics: Hex[] = []
    for (let i = 0; i < count; i++, from += 32) topics.push(machine.readHex(from, 32))
    const log = { address, topics, data: machine.copy(from, size) }
    logs.push(log)
    transfers?.push(log)
    at = Math.ceil((from + size) / LOG.align) * LOG.align
  }
  rememberLogDigest(machine, logs)
  return { logs, internal }
}

/** Leaves bloom and encoding to the receipt where logs are many. */
const rememberLogDigest = (machine: Machine, logs: readonly Log[]): void => {
  const { wasm } = machine
  const size = logs.length < DIGEST_LOGS ? 0 : wasm.encodeLogs()
  machine.refresh()
  if (size === 0) return
  wasm.bloomOfLogs()
  rememberDigest(logs, {
    bloom: machine.copy(wasm.BLOOM.value, BLOOM_BYTES),
    encoded: machine.copy(wasm.encodedLogsAt(), size),
  })
}
