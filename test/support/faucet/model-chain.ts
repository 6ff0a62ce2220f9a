import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { FaucetNode, FaucetNodeError } from '../../../src/faucet/send/faucet-node.ts'
import { decodeTransaction } from '../../../src/primitives/transaction/transaction.ts'
import { type Hex, hexToBytes } from '../../../src/util/bytes.ts'
import { CodedError } from '../../../src/util/errors.ts'

const refuse = (message: string): never => {
  throw new CodedError<FaucetNodeError>({ code: 'NODE_REFUSED', method: 'eth_sendRawTransaction', message })
}

/** Chain with one sender: nonces, a pool that may be lost, and blocks that are mined on demand. */
export class ModelChain implements FaucetNode {
  balanceWei = 10n ** 24n
  readonly contracts = new Set<Hex>()
  /** Recipients in the order of inclusion. */
  readonly paid: Hex[] = []
  readonly #pool = new Map<number, Hex>()
  readonly #included = new Map<Hex, number>()
  #used = 0
  #block = 0

  chainId = async (): Promise<number> => 1_998_991
  genesisHash = async (): Promise<Hex> => `0x${'11'.repeat(32)}`
  balance = async (): Promise<bigint> => this.balanceWei
  isContract = async (address: Hex): Promise<boolean> => this.contracts.has(address)
  gasPrice = async (): Promise<bigint> => 27_500_000_000n
  blockOf = async (hash: Hex): Promise<number | undefined> => this.#included.get(hash)

  async nonce(_address: Hex, at: 'latest' | 'pending'): Promise<number> {
    let nonce = this.#used
    if (at === 'pending') while (this.#pool.has(nonce)) nonce++
    return nonce
  }

  async send(raw: Hex): Promise<void> {
    const nonce = Number(decodeTransaction(hexToBytes(raw)).nonce)
    if (nonce < this.#used) refuse('nonce too low')
    const pooled = this.#pool.get(nonce)
    if (pooled === raw) refuse('already known')
    if (pooled !== undefined) refuse('replacement transaction underpriced')
    this.#pool.set(nonce, raw)
  }

  mine(): void {
    this.#block++
    for (let raw = this.#pool.get(this.#used); raw !== undefined; raw = this.#pool.get(this.#used)) {
      const { to } = decodeTransaction(hexToBytes(raw))
      this.paid.push(to as Hex)
      this.#included.set(keccak256Hex(hexToBytes(raw)), this.#block)
      this.#pool.delete(this.#used)
      this.#used++
    }
  }

  /** The pool forgets what no block includes. */
  losePool(): void {
    this.#pool.clear()
  }

  /** Another program with the faucet's key uses the next nonce. */
  takeNonce(): void {
    this.#pool.delete(this.#used)
    this.#used++
    this.#block++
  }

  paidTo(address: Hex): number {
    return this.paid.filter(to => to === address).length
  }
}
