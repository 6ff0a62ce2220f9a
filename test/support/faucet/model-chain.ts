import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { FaucetNode, FaucetNodeError } from '../../../src/faucet/faucet-node.ts'
import { priceOfTransfer } from '../../../src/faucet/transfer.ts'
import { decodeTransaction } from '../../../src/primitives/transaction/transaction.ts'

const refuse = (message: string): never => {
  throw new CodedError<FaucetNodeError>({ code: 'NODE_REFUSED', method: 'eth_sendRawTransaction', message })
}

/** Chain with one sender: nonces, a pool that may be lost, and blocks that are mined on demand. */
export class ModelChain implements FaucetNode {
  balanceWei = 10n ** 24n
  readonly contracts = new Set<Hex>()
  /** Recipients in the order of inclusion. */
  paid: Hex[] = []
  /** Blocks take no transfer below it. */
  baseFeeWei = 0n
  gasPriceWei = 27_500_000_000n
  readonly #pool = new Map<number, Hex>()
  readonly #included = new Map<Hex, number>()
  /** Recipient, nonce and block of what is included, oldest first. */
  #history: { readonly to: Hex; readonly hash: Hex; readonly block: number }[] = []
  #used = 0
  #block = 0

  chainId = async (): Promise<number> => 1_998_991
  genesisHash = async (): Promise<Hex> => `0x${'11'.repeat(32)}`
  balance = async (): Promise<bigint> => this.balanceWei
  isContract = async (address: Hex): Promise<boolean> => this.contracts.has(address)
  gasPrice = async (): Promise<bigint> => this.gasPriceWei
  blockOf: FaucetNode['blockOf'] = async (hash: Hex) => this.#included.get(hash)

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
    if (pooled !== undefined && priceOfTransfer(raw) * 100n < priceOfTransfer(pooled) * 110n)
      refuse('replacement transaction underpriced')
    this.#pool.set(nonce, raw)
  }

  mine(): void {
    this.#block++
    for (let raw = this.#pool.get(this.#used); raw !== undefined; raw = this.#pool.get(this.#used)) {
      if (priceOfTransfer(raw) < this.baseFeeWei) return
      const to = decodeTransaction(hexToBytes(raw)).to as Hex
      const hash = keccak256Hex(hexToBytes(raw))
      this.paid.push(to)
      this.#included.set(hash, this.#block)
      this.#history.push({ to, hash, block: this.#block })
      this.#pool.delete(this.#used)
      this.#used++
    }
  }

  get block(): number {
    return this.#block
  }

  /** Takes the blocks above a number back, as evm_revert does; their transactions are lost. */
  revertTo(block: number): void {
    for (const { hash } of this.#history.filter(entry => entry.block > block)) this.#included.delete(hash)
    this.#history = this.#history.filter(entry => entry.block <= block)
    this.paid = this.#history.map(({ to }) => to)
    this.#used = this.#history.length
    this.#block = block
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
