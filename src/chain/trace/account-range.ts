import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { dataJson, objectJson } from '../../evm/tracers/json-text.ts'
import type { TraceOutput } from '../../evm/tracers/tracer-context.ts'
import { type Account, decodeAccount } from '../../state/account.ts'
import type { StoredState } from '../../state/history/stored-state.ts'
import { decodeWord } from '../../state/storage-word.ts'
import type { Store } from '../../storage/store.ts'
import { AddressPreimages, slotPreimage } from './preimages.ts'
import type { AccountRangeRequest } from './worker-protocol.ts'

const FIRST_SLOT = new Uint8Array(32)

/**
 * Returns the storage words whose slot is known, without leading zeros and prefix, as geth dumps them; others cannot be
 * named.
 */
const storageJson = async (
  state: StoredState,
  hashedAddress: Uint8Array,
  turn: () => Promise<void>,
): Promise<string> => {
  const words: string[] = []
  let looked = 0
  for await (const [key, row] of state.slots(hashedAddress, FIRST_SLOT)) {
    const slot = slotPreimage(bytesToHex(key))
    if (slot !== undefined)
      words.push(
        `"${slot}":"${decodeWord(row)
          .slice(2)
          .replace(/^(00)+/, '')}"`,
      )
    if (++looked === TRACE_LIMITS.storageResults) break
    await turn()
  }
  return `{${words.join(',')}}`
}

const accountJson = async (
  state: StoredState,
  key: Uint8Array,
  account: Account,
  address: Hex | undefined,
  { withCode, withStorage }: AccountRangeRequest,
  turn: () => Promise<void>,
): Promise<string> => {
  const code = withCode ? await state.codeOf(account.codeHash) : undefined
  return objectJson({
    balance: `"${account.balance}"`,
    nonce: String(account.nonce),
    root: `"${account.storageRoot}"`,
    codeHash: `"${account.codeHash}"`,
    code: code === undefined || code.byteLength === 0 ? undefined : dataJson(code),
    storage: withStorage ? await storageJson(state, key, turn) : undefined,
    address: address === undefined ? undefined : `"${address}"`,
    key: dataJson(key),
  })
}

/** Writes geth's account dump, ordered by keccak of the address; `next` is the first that does not fit, in base64. */
export const writeAccountRange = async (
  output: TraceOutput,
  store: Store,
  state: StoredState,
  request: AccountRangeRequest,
  turn: () => Promise<void>,
): Promise<void> => {
  const known = new AddressPreimages()
  await known.addFromBlocks(store, request.block.number, TRACE_LIMITS.addressTransactions, turn)
  let count = 0
  let next: Uint8Array | undefined
  output.nest(`{"root":"${request.stateRoot.slice(2)}","accounts":{`, '}}')
  for await (const [key, row] of state.accounts(hexToBytes(request.start))) {
    if (count === request.limit) {
      next = key
      break
    }
    await turn()
    const hash = bytesToHex(key)
    const address = known.get(hash)
    if (address === undefined && !request.incompletes) continue
    const json = await accountJson(state, key, decodeAccount(row), address, request, turn)
    output.write(`${count++ === 0 ? '' : ','}"${address ?? `pre(${hash})`}":${json}`)
  }
  output.close(next === undefined ? '}}' : `},"next":"${Buffer.from(next).toString('base64')}"}`)
}
