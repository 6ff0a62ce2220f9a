import type { Hex } from '@tandem/base/bytes.ts'
import { rpc } from './devnet.ts'
import type { Signed } from './load.ts'

interface SeenBlock {
  readonly hash: Hex
  /** The block and its receipts as they were answered. */
  readonly block: string
  readonly receipts: string
}

interface BlockAnswer {
  readonly hash: Hex
  readonly number: Hex
  readonly transactions: readonly Hex[]
}

/**
 * A client that remembers all it was told: acknowledged transactions and blocks seen. After a restart it holds the node to its word.
 */
export class Witness {
  readonly #seen = new Map<number, SeenBlock>()
  /** Acknowledged and not yet seen in a block, by sender and nonce, in the order of the answers. */
  readonly #open = new Map<string, Signed[]>()
  /** Sent, whatever was answered, by sender and nonce. */
  readonly #sent = new Map<string, Signed[]>()
  #acknowledged = 0
  #highest = 0

  get highest(): number {
    return this.#highest
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  get waiting(): number {
    return this.#open.size
  }

  /** To be told of what may take the place of something acknowledged though no answer came: the node may die in between. */
  sent(tx: Signed): void {
    const slot = slotOf(tx)
    this.#sent.set(slot, [...(this.#sent.get(slot) ?? []), tx])
  }

  acknowledge(tx: Signed): void {
    this.#acknowledged++
    const slot = slotOf(tx)
    const earlier = this.#open.get(slot)
    if (earlier === undefined) this.#open.set(slot, [tx])
    else earlier.push(tx)
  }

  /** Follows the head until `isStopped`, or until the node is gone. */
  async watch(url: string, isStopped: () => boolean): Promise<void> {
    try {
      while (!isStopped()) {
        const head = Number(await rpc<Hex>(url, 'eth_blockNumber'))
        while (this.#highest < head) await this.#see(url, this.#highest + 1)
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
    }
  }

  async #see(url: string, number: number): Promise<void> {
    this.#seen.set(number, await fetchBlock(url, number))
    this.#highest = number
  }

  /** Everything in which the node contradicts what it said before; blocks below `from` are not asked for again. */
  async contradictions(url: string, from = 1): Promise<readonly string[]> {
    return [
      ...(await this.forgotten(url, from)),
      ...(await this.lost(url)),
      // A node without peers gets transactions from nobody else, so their order is known.
      ...(await this.#checkPool(url)),
    ]
  }

  /** Blocks and receipts from `from` on that read otherwise than they were seen. */
  async forgotten(url: string, from = 1): Promise<readonly string[]> {
    const head = Number(await rpc<Hex>(url, 'eth_blockNumber'))
    if (head < this.#highest) return [`head ${head}, but ${this.#highest} was seen`]
    const found: string[] = []
    for (const [number, seen] of this.#seen) {
      if (number < from) continue
      const now = await fetchBlock(url, number)
      if (now.hash !== seen.hash) found.push(`block ${number} was ${seen.hash}, now ${now.hash}`)
      else if (now.block !== seen.block) found.push(`block ${number} reads otherwise: ${seen.block} ${now.block}`)
      if (now.receipts !== seen.receipts) found.push(`receipts of ${number}: ${seen.receipts} ${now.receipts}`)
    }
    return found
  }

  /** Acknowledged ones that are neither in a block nor in the pool, nor another one acknowledged for the same nonce. */
  async lost(url: string): Promise<readonly string[]> {
    const found: string[] = []
    for (const [slot, txs] of this.#open) {
      const places = await Promise.all(txs.map(tx => placeOf(url, tx)))
      const included = places.filter(place => place !== null && place.blockNumber !== null).length
      const pooled = places.filter(place => place?.blockNumber === null).length
      if (included > 1) found.push(`${slot}: ${included} transactions of one nonce in blocks`)
      if (included === 1) this.#open.delete(slot)
      else if (pooled > 0) {
        if (places.at(-1) === null) found.push(`${slot}: the replacement ${txs.at(-1)?.hash} is gone`)
      } else {
        const replacement = await this.#unacknowledged(url, slot)
        if (replacement === null) found.push(`${slot}: acknowledged, gone: ${await this.#lastSeen(url, txs)}`)
        else if (replacement.blockNumber !== null) this.#open.delete(slot)
      }
    }
    return found
  }

  /** Place of another transaction that was sent with this nonce: a node that dies before it answers may still have it. */
  async #unacknowledged(url: string, slot: string): Promise<Place> {
    const places = await Promise.all((this.#sent.get(slot) ?? []).map(tx => placeOf(url, tx)))
    return places.find(place => place !== null) ?? null
  }

  /** For the message of a failing test: where the sender stands, and whether it was only a matter of the moment. */
  async #lastSeen(url: string, txs: readonly Signed[]): Promise<string> {
    const [from, hashes] = [txs[0]?.from, txs.map(tx => tx.hash)]
    const [latest, pending, again] = await Promise.all([
      rpc(url, 'eth_getTransactionCount', [from, 'latest']),
      rpc(url, 'eth_getTransactionCount', [from, 'pending']),
      Promise.all(hashes.map(hash => rpc(url, 'eth_getTransactionByHash', [hash]))),
    ])
    return JSON.stringify({ hashes, latest, pending, again })
  }

  /** Nothing waits behind a gap: transactions come back in the order in which they were acknowledged. */
  async #checkPool(url: string): Promise<readonly string[]> {
    const { pending, queued } = await rpc<PoolAnswer>(url, 'txpool_content')
    const found = Object.entries(queued).map(([who, txs]) => `${who} queues nonces ${Object.keys(txs).join(', ')}`)
    for (const [who, txs] of Object.entries(pending)) {
      const nonces = Object.keys(txs).map(Number)
      nonces.forEach((nonce, index) => {
        if (nonce !== (nonces[0] ?? 0) + index) found.push(`${who} has nonces ${nonces.join(', ')}`)
      })
    }
    return found
  }
}

/** null: the node does not know it; a block number of null: it waits. */
type Place = { readonly blockNumber: Hex | null } | null

interface PoolAnswer {
  readonly pending: Record<string, Record<string, unknown>>
  readonly queued: Record<string, Record<string, unknown>>
}

const placeOf = (url: string, { hash }: Signed) => rpc<Place>(url, 'eth_getTransactionByHash', [hash])

const slotOf = ({ from, nonce }: Signed): string => `${from} ${nonce}`

const fetchBlock = async (url: string, number: number): Promise<SeenBlock> => {
  const at = `0x${number.toString(16)}`
  const [block, receipts] = await Promise.all([
    rpc<BlockAnswer>(url, 'eth_getBlockByNumber', [at, true]),
    rpc<unknown>(url, 'eth_getBlockReceipts', [at]),
  ])
  return { hash: block.hash, block: JSON.stringify(block), receipts: JSON.stringify(receipts) }
}
