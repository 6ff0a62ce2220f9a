import { readFileSync } from 'node:fs'
import { bytesToHex, concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'
import { rpc } from './devnet.ts'
import { eventually, PATIENCE_MS } from './node-process.ts'
import { signedBy } from './signed-by.ts'
import { compileSolidity } from './solidity.ts'

/** A transaction as its sender keeps it. */
export interface Signed {
  readonly raw: Hex
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
}

export interface Account {
  readonly address: Hex
  readonly privateKey: Hex
}

export type Fields = Partial<UnsignedTransaction> & { readonly nonce: number }

const GWEI = 10n ** 9n

/** Signs as one account; a plain transfer of nothing unless the fields say otherwise. */
export const signerOf = (privateKey: Hex, chainId: number): ((fields: Fields) => Signed) => {
  const key = hexToBytes(privateKey)
  const from = addressFromPrivateKey(key)
  return fields => {
    const maxFeePerGas = fields.maxFeePerGas ?? 30n * GWEI
    const unsigned: UnsignedTransaction = {
      type: 0,
      chainId,
      gasLimit: 21_000n,
      maxFeePerGas,
      maxPriorityFeePerGas: maxFeePerGas,
      to: `0x${'22'.repeat(20)}`,
      value: 0n,
      data: EMPTY_BYTES,
      accessList: [],
      ...fields,
    }
    const { raw } = signedBy(unsigned, key)
    return { raw: bytesToHex(raw), hash: bytesToHex(keccak256(raw)), from, nonce: fields.nonce }
  }
}

export interface Token {
  readonly address: Hex
  /** Its creation, with a constructor argument. */
  readonly creation: Uint8Array
}

const selector = (signature: string): Uint8Array => keccak256(new TextEncoder().encode(signature)).subarray(0, 4)
const TRANSFER = selector('transfer(address,uint256)')
const BUY = selector('buy()')
const BALANCE_OF = selector('balanceOf(address)')

const wordOf = (address: Hex): Uint8Array => hexToBytes(`0x${address.slice(2).padStart(64, '0')}`)
export const transferCall = (to: Hex, amount: bigint): Uint8Array =>
  concatBytes(TRANSFER, wordOf(to), hexToBytes(toWord(amount)))
export const balanceCall = (of: Hex): Uint8Array => concatBytes(BALANCE_OF, wordOf(of))

let tokenCreation: Uint8Array | undefined
const compileToken = (): Uint8Array => {
  if (tokenCreation === undefined) {
    const source = readFileSync(new URL('../e2e/projects/foundry/src/Ledger.sol', import.meta.url), 'utf8')
    const ledger = compileSolidity(source)['Ledger']
    if (ledger === undefined) throw new Error('Ledger.sol holds no Ledger')
    tokenCreation = concatBytes(ledger.bytecode, hexToBytes(toWord(10n ** 30n)))
  }
  return tokenCreation
}

/** Puts the token on the chain and gives each account some of it; answers when all of that is in blocks. */
export const deployToken = async (node: LoadTarget): Promise<Token> => {
  const creation = compileToken()
  const [owner, ...others] = node.accounts
  if (owner === undefined) throw new Error('a chain with funded accounts')
  const signed = signerOf(owner.privateKey, node.chainId)
  const nonce = Number(await rpc<Hex>(node.http, 'eth_getTransactionCount', [owner.address, 'pending']))
  const hash = await rpc<Hex>(node.http, 'eth_sendRawTransaction', [
    signed({ nonce, to: null, data: creation, gasLimit: 3_000_000n }).raw,
  ])
  const { contractAddress } = await receiptOf<{ contractAddress: Hex }>(node.http, hash)
  const gifts = others.map((account, index) =>
    signed({
      nonce: nonce + 1 + index,
      to: contractAddress,
      data: transferCall(account.address, 10n ** 20n),
      gasLimit: 120_000n,
    }),
  )
  for (const gift of gifts) await rpc(node.http, 'eth_sendRawTransaction', [gift.raw])
  const last = gifts.at(-1)
  if (last !== undefined) await receiptOf(node.http, last.hash)
  return { address: contractAddress, creation }
}

export const receiptOf = <T>(url: string, hash: Hex, withinMs = PATIENCE_MS): Promise<T> => {
  const ask = async () => (await rpc<T | null>(url, 'eth_getTransactionReceipt', [hash])) ?? undefined
  return eventually(`receipt of ${hash}`, ask, { withinMs, everyMs: 20 })
}

export interface LoadTarget {
  readonly http: string
  readonly chainId: number
  readonly accounts: readonly Account[]
}

interface LoadOptions {
  readonly node: LoadTarget
  readonly token: Token
  /** From 0 up to, not including, 1. */
  readonly random: () => number
  /** Rest of each account between two submissions, on average. */
  readonly pauseMs: number
  /** Is on its way: it may be in a block one day, whatever is answered. */
  readonly onSent?: (tx: Signed) => void
  /** The node answered with the hash. */
  readonly onAcknowledged: (tx: Signed) => void
  /** The node answered with an error. */
  readonly onRefused: (tx: Signed, message: string) => void
}

export interface RunningLoad {
  /** Sends nothing more; resolves when every answer has come or its connection broke. */
  stop(): Promise<void>
}

/**
 * Transfers, token calls, creations and now and then a replacement, from all accounts at once, each in the order of its nonces,
 * one by one or in small batches. A lane ends when the node does.
 */
export const startLoad = (options: LoadOptions): RunningLoad => {
  let stopped = false
  const lanes = options.node.accounts.map(account => lane(account, options, () => stopped))
  return {
    async stop() {
      stopped = true
      await Promise.all(lanes)
    },
  }
}

const lane = async (account: Account, options: LoadOptions, isStopped: () => boolean): Promise<void> => {
  const { node, random, pauseMs } = options
  const signed = signerOf(account.privateKey, node.chainId)
  try {
    let nonce = Number(await rpc<Hex>(node.http, 'eth_getTransactionCount', [account.address, 'pending']))
    while (!isStopped()) {
      const count = random() < 0.3 ? 1 + Math.floor(random() * 8) : 1
      const batch: Signed[] = []
      if (count === 1 && nonce > 0 && random() < 0.05)
        batch.push(signed({ nonce: nonce - 1, maxFeePerGas: 34n * GWEI, value: BigInt(nonce) }))
      else for (let i = 0; i < count; i++) batch.push(signed({ ...work(options, account.address), nonce: nonce++ }))
      await submit(batch, options)
      await new Promise(resolve => setTimeout(resolve, 2 * pauseMs * random()))
    }
  } catch (error) {
    // The node was killed, which is what such a load is for; anything else is the test's own fault.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
  }
}

const work = ({ token, random, node }: LoadOptions, own: Hex): Partial<UnsignedTransaction> => {
  const kind = random()
  const { address: other = own } = node.accounts[Math.floor(random() * node.accounts.length)] ?? {}
  if (kind < 0.55) return { to: other, value: BigInt(Math.floor(random() * 1e9)) }
  if (kind < 0.75)
    return {
      to: token.address,
      data: transferCall(other, BigInt(1 + Math.floor(random() * 1_000))),
      gasLimit: 120_000n,
    }
  if (kind < 0.85) return { to: token.address, data: BUY, value: 1n, gasLimit: 120_000n }
  // Fails by running out of gas: a receipt with status 0 has to survive as well.
  if (kind < 0.9) return { to: token.address, data: transferCall(other, 1n), gasLimit: 35_000n }
  if (kind < 0.95)
    return {
      type: 2,
      to: other,
      value: 1n,
      maxFeePerGas: 60n * GWEI,
      maxPriorityFeePerGas: BigInt(Math.floor(random() * 3e9)),
    }
  return { to: null, data: token.creation, gasLimit: 1_500_000n }
}

const submit = async (batch: readonly Signed[], options: LoadOptions): Promise<void> => {
  for (const tx of batch) options.onSent?.(tx)
  const calls = batch.map(({ raw }, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] }))
  const response = await fetch(options.node.http, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
  })
  const answer = (await response.json()) as Answer | Answer[]
  for (const { id, error } of Array.isArray(answer) ? answer : [answer]) {
    const tx = batch[id]
    if (tx === undefined) throw new Error(`an answer to nothing: ${id}`)
    if (error === undefined) options.onAcknowledged(tx)
    else options.onRefused(tx, error.message)
  }
}

interface Answer {
  readonly id: number
  readonly result?: Hex
  readonly error?: { readonly code: number; readonly message: string }
}
