import { ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import type {
  InternalFilter,
  Page,
  PageKey,
  PageRequest,
  TransactionFilter,
  TransferFilter,
} from '@tandem/explorer/store/index-query.ts'
import type { BlockRecord } from '@tandem/explorer/store/records.ts'
import type { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addressOf, contractOf, RandomBlocks, tokenOf } from './random-blocks.ts'
import { recount } from './recount.ts'

/** Everything a list holds, page after page by its keys. */
const readAll = async <T>(read: (page: PageRequest) => Promise<Page<T>>, limit: number): Promise<T[]> => {
  const items: T[] = []
  let after: PageKey | null = null
  do {
    const page: Page<T> = await read({ limit, offset: 0, after })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    after = page.next
  } while (after !== null)
  return items
}

/** Every list by its name, with a text for each row. */
const listsOf = (store: SqlIndex): Readonly<Record<string, (page: PageRequest) => Promise<Page<string>>>> => {
  const party = addressOf(1)
  const named =
    <T>(read: (page: PageRequest) => Promise<Page<T>>, nameOf: (row: T) => string) =>
    async (page: PageRequest): Promise<Page<string>> => {
      const { items, next } = await read(page)
      return { items: items.map(nameOf), next }
    }
  const transactions = (filter: TransactionFilter) =>
    named(
      page => store.transactions(filter, page),
      ({ hash }) => hash,
    )
  const transfers = (filter: TransferFilter) =>
    named(
      page => store.transfers(filter, page),
      ({ blockNumber, logIndex, position }) => `${blockNumber} ${logIndex} ${position}`,
    )
  const internal = (filter: InternalFilter) =>
    named(
      page => store.internalTransfers(filter, page),
      ({ blockNumber, transactionIndex, position }) => `${blockNumber} ${transactionIndex} ${position}`,
    )
  return {
    all: transactions({}),
    token: transactions({ kind: 'token' }),
    from: transactions({ from: party }),
    to: transactions({ to: party }),
    party: transactions({ party }),
    'party, in all blocks': transactions({ party, fromBlock: 0, toBlock: 99_999_999 }),
    'party, in some blocks': transactions({ party, fromBlock: 1, toBlock: 40 }),
    'from one, behind a block': transactions({ from: party, fromBlock: 3 }),
    'all, in some blocks': transactions({ fromBlock: 17, toBlock: 41 }),
    'of a kind, up to a block': transactions({ kind: 'token', toBlock: 55 }),
    transfers: transfers({}),
    'transfers of a party, in some blocks': transfers({ party, fromBlock: 5, toBlock: 50 }),
    'internal, behind a block': internal({ fromBlock: 9 }),
    'transfers of a token': transfers({ token: tokenOf(1) }),
    'transfers of a party': transfers({ party }),
    'mints and burns': transfers({ party: ZERO_ADDRESS }),
    internal: internal({}),
    'internal of a party': internal({ party: contractOf(1) }),
  }
}

/** Lists that may have fewer rows than one pointer skips. */
const SHORT = new Set(['internal of a party', 'party, in some blocks', 'mints and burns'])

/** Rows from which a list has pointers to skip to. */
const SKIPPED = 500

const expectSameAtEveryOffset = async (store: SqlIndex, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const read = listsOf(store)[name] as (page: PageRequest) => Promise<Page<string>>
    const newest = await readAll(read, 3_000)
    if (!SHORT.has(name)) expect(newest.length, name).toBeGreaterThan(SKIPPED)
    const { length } = newest
    const offsets = [499, 500, 501, length - 501, length - 500, length - 1, length]
    for (const ascending of [false, true]) {
      const rows = ascending ? newest.toReversed() : newest
      for (const offset of offsets.filter(at => at >= 0)) {
        const page = await read({ limit: 10, offset, after: null, ascending })
        const where = `${name} at ${offset} of ${length}${ascending ? ', oldest first' : ''}`
        expect(page.items, where).toEqual(rows.slice(offset, offset + 10))
        expect(page.next !== null, where).toBe(offset + 10 < length)
      }
    }
  }
  const numbers = await readAll(page => store.blocks(page), 100)
  for (const offset of [0, 1, 30, numbers.length - 1, numbers.length, 90_000])
    expect((await store.blocks({ limit: 10, offset, after: null })).items).toEqual(numbers.slice(offset, offset + 10))
}

/** Behaviour that every back end of the index shares; `open` returns an empty one. */
export const indexStoreSuite = (name: string, open: () => Promise<SqlIndex>): void => {
  const opened = async (): Promise<SqlIndex> => {
    const store = await open()
    onTestFinished(() => store.close())
    return store
  }
  const filled = async (count: number, seed = 7): Promise<{ store: SqlIndex; blocks: BlockRecord[] }> => {
    const store = await opened()
    const blocks = new RandomBlocks({ seed }).chain(count)
    for (let at = 0; at < count; at += 9) await store.append(blocks.slice(at, at + 9))
    return { store, blocks }
  }

  describe(name, () => {
    test('an empty index has no position and empty lists', async () => {
      const store = await opened()
      expect(await store.position()).toBeUndefined()
      expect(await store.blocks({ limit: 5, offset: 0, after: null })).toEqual({ items: [], next: null })
      expect((await store.counters()).blocks).toBe(0)
      expect(await recount(store)).toEqual([])
    })

    test('batches of one transaction give the index that single ones give', async () => {
      const [one, many] = [await opened(), await opened()]
      const random = new RandomBlocks({ seed: 41, addresses: 3, tokens: 2, transactions: 60 })
      const blocks = random.chain(50)
      const batches = Array.from({ length: 10 }, (_, at) => blocks.slice(5 * at, 5 * at + 5))
      await one.appendAll(batches.slice(0, 3))
      await one.appendAll(batches.slice(3))
      for (const batch of batches) await many.append(batch)
      expect(await one.position()).toEqual(await many.position())
      expect(await recount(one)).toEqual([])
      expect(await one.counters()).toEqual(await many.counters())
      for (const [name, read] of Object.entries(listsOf(one)))
        expect(await readAll(read, 100), name).toEqual(
          await readAll(listsOf(many)[name] as (page: PageRequest) => Promise<Page<string>>, 100),
        )
      await one.rollback(45)
      expect(await recount(one)).toEqual([])
    })

    test('a failure between two batches of one transaction leaves none of them', async () => {
      const { store, blocks } = await filled(20)
      const more = new RandomBlocks({ seed: 8 }).chain(6, blocks[19])
      async function* batches() {
        yield more.slice(0, 3)
        throw new Error('the chain cannot be read')
      }
      await expect(store.appendAll(batches())).rejects.toThrow('the chain cannot be read')
      await expect(store.appendAll([more.slice(0, 3), more.slice(4)])).rejects.toThrow('follow the position')
      expect((await store.position())?.number).toBe(19)
      expect(await recount(store)).toEqual([])
      await store.appendAll([])
      await store.appendAll([more.slice(0, 3), [], more.slice(3)])
      expect(await recount(store)).toEqual([])
      expect((await store.position())?.number).toBe(25)
    })

    test('blocks come back as they were appended, newest first', async () => {
      const { store, blocks } = await filled(40)
      expect(await store.position()).toEqual({ number: 39, hash: blocks[39]?.hash })
      const rows = await readAll(page => store.blocks(page), 7)
      expect(rows).toEqual(
        blocks.toReversed().map(({ transactions, transfers, internal, failed, proofs, ...block }) => ({
          ...block,
          transactionCount: transactions.length,
        })),
      )
      const transactions = await readAll(page => store.transactions({}, page), 6)
      expect(transactions.map(({ hash }) => hash)).toEqual(
        blocks.flatMap(block => block.transactions.map(({ hash }) => hash)).toReversed(),
      )
      const transfers = await readAll(page => store.transfers({}, page), 6)
      expect(transfers.map(({ token, amount }) => [token, amount])).toEqual(
        blocks.flatMap(block => block.transfers.map(({ token, amount }) => [token, amount])).toReversed(),
      )
    })

    test('filters answer what a search through everything answers', async () => {
      const { store, blocks } = await filled(60)
      const all = blocks.flatMap(({ transactions }) => transactions).toReversed()
      const [a, b] = [addressOf(1), addressOf(2)]
      const party = ({ from, to, created }: (typeof all)[number], who: string) =>
        from === who || (to ?? created) === who
      const cases = [
        { filter: { from: a }, keeps: (tx: (typeof all)[number]) => tx.from === a },
        { filter: { to: b }, keeps: (tx: (typeof all)[number]) => (tx.to ?? tx.created) === b },
        { filter: { from: a, to: b }, keeps: (tx: (typeof all)[number]) => tx.from === a && tx.to === b },
        { filter: { kind: 'create' as const }, keeps: (tx: (typeof all)[number]) => tx.kind === 'create' },
        {
          filter: { kind: 'token' as const, from: a },
          keeps: (tx: (typeof all)[number]) => tx.kind === 'token' && tx.from === a,
        },
        { filter: { party: a }, keeps: (tx: (typeof all)[number]) => party(tx, a) },
      ]
      for (const { filter, keeps } of cases) {
        const found = await readAll(page => store.transactions(filter, page), 3)
        expect(found.map(({ hash }) => hash)).toEqual(all.filter(keeps).map(({ hash }) => hash))
        const second = await store.transactions(filter, { limit: 3, offset: 2, after: null })
        expect(second.items.map(({ hash }) => hash)).toEqual(
          all
            .filter(keeps)
            .slice(2, 5)
            .map(({ hash }) => hash),
        )
      }
      const transfers = blocks.flatMap(block => block.transfers).toReversed()
      const ofParty = await readAll(page => store.transfers({ party: a }, page), 4)
      expect(ofParty.length).toBe(transfers.filter(({ from, to }) => from === a || to === a).length)
      const ofToken = await readAll(page => store.transfers({ token: tokenOf(1) }, page), 4)
      expect(ofToken.length).toBe(transfers.filter(({ token }) => token === tokenOf(1)).length)
    })

    test('a list of both sides of an address is the same at every offset, near and far', async () => {
      const store = await opened()
      const blocks = new RandomBlocks({ seed: 17, addresses: 2, transactions: 80 }).chain(60)
      await store.append(blocks)
      const party = addressOf(1)
      const filter = { party, fromBlock: 1, toBlock: 58 }
      const all = await readAll(page => store.transactions(filter, page), 100)
      expect(all.length).toBeGreaterThan(1_200)
      expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length)
      for (const ascending of [false, true]) {
        const expected = (ascending ? all.toReversed() : all).map(({ hash }) => hash)
        for (const offset of [0, 999, 1_000, 1_001, 1_100, all.length - 10, all.length - 7, all.length, 90_000]) {
          const page = await store.transactions(filter, { limit: 10, offset, after: null, ascending })
          expect(page.items.map(({ hash }) => hash)).toEqual(expected.slice(offset, offset + 10))
          expect(page.next !== null).toBe(offset + 10 < all.length)
          if (page.next === null) continue
          const after = await store.transactions(filter, { limit: 5, offset: 0, after: page.next, ascending })
          expect(after.items.map(({ hash }) => hash)).toEqual(expected.slice(offset + 10, offset + 15))
        }
      }
    })

    test('every list is the same at every offset, near and far, also after blocks were taken back', async () => {
      const store = await opened()
      const random = new RandomBlocks({ seed: 23, addresses: 2, tokens: 2, transactions: 70 })
      const blocks = random.chain(70)
      for (let at = 0; at < blocks.length; at += 7) await store.append(blocks.slice(at, at + 7))
      await expectSameAtEveryOffset(store, Object.keys(listsOf(store)))
      await store.rollback(60)
      expect(await recount(store)).toEqual([])
      const fork = new RandomBlocks({ seed: 24, fork: 1, addresses: 2, tokens: 2, transactions: 70 })
      await store.append(fork.chain(12, blocks[60]))
      expect(await recount(store)).toEqual([])
      await expectSameAtEveryOffset(store, ['all', 'party', 'transfers of a token'])
    })

    test('lists run between two blocks, from either end', async () => {
      const { store, blocks } = await filled(60)
      const party = addressOf(1)
      const within = blocks.filter(({ number }) => number >= 20 && number <= 45)
      const hashes = within.flatMap(({ transactions }) =>
        transactions.filter(({ from, to, created }) => from === party || (to ?? created) === party).map(tx => tx.hash),
      )
      const range = { party, fromBlock: 20, toBlock: 45 }
      const newest = await readAll(page => store.transactions(range, page), 3)
      expect(newest.map(({ hash }) => hash)).toEqual(hashes.toReversed())
      const oldest = await readAll(page => store.transactions(range, { ...page, ascending: true }), 3)
      expect(oldest.map(({ hash }) => hash)).toEqual(hashes)
      const second = await store.transactions(range, { limit: 2, offset: 2, after: null, ascending: true })
      expect(second.items.map(({ hash }) => hash)).toEqual(hashes.slice(2, 4))
      const some = await readAll(
        page => store.transfers({ fromBlock: 20, toBlock: 45 }, { ...page, ascending: true }),
        7,
      )
      expect(some.map(({ amount }) => amount)).toEqual(
        within.flatMap(({ transfers }) => transfers.map(({ amount }) => amount)),
      )
    })

    test('internal transfers are listed by party and by transaction', async () => {
      const { store, blocks } = await filled(60)
      const rows = blocks.flatMap(({ number, internal }) => internal.map(transfer => ({ ...transfer, number })))
      expect(rows.length).toBeGreaterThan(20)
      const all = await readAll(page => store.internalTransfers({}, page), 4)
      expect(all.map(({ blockNumber, value, kind }) => [blockNumber, value, kind])).toEqual(
        rows.toReversed().map(({ number, value, kind }) => [number, value, kind]),
      )
      const party = contractOf(2)
      const own = rows.filter(({ from, to }) => from === party || to === party)
      const found = await readAll(page => store.internalTransfers({ party }, { ...page, ascending: true }), 3)
      expect(
        found.map(({ blockNumber, transactionIndex, position }) => [blockNumber, transactionIndex, position]),
      ).toEqual(own.map(({ number, transactionIndex, position }) => [number, transactionIndex, position]))
      expect((await store.account(party))?.internal).toBe(own.length)
      const [first] = own
      const ofOne = await store.internalOfTransaction(first?.number ?? 0, first?.transactionIndex ?? 0, 100)
      expect(ofOne.map(({ position }) => position)).toEqual(
        rows
          .filter(row => row.number === first?.number && row.transactionIndex === first.transactionIndex)
          .map(({ position }) => position),
      )
    })

    test('texts that others chose are stored alike, whatever is in them', async () => {
      const store = await opened()
      const [block, ...later] = new RandomBlocks({ seed: 41 }).chain(12)
      const texts = new Map([
        ['a\0b', 'ab'],
        ['\0', ''],
        ['\uD800x\uDC00', '\uFFFDx\uFFFD'],
        ['\u{1F600}', '\u{1F600}'],
        ['\\N "quoted" \\\n\t{,}', '\\N "quoted" \\\n\t{,}'],
        ['word '.repeat(200_000), 'word '.repeat(200_000).slice(0, 256)],
        ['x'.repeat(1_000_000), 'x'.repeat(256)],
      ])
      await store.append([block as BlockRecord, ...later])
      for (const [text, stored] of texts) {
        await store.writeToken(tokenOf(1), { name: text, symbol: text, decimals: null, supply: null })
        expect(await store.token(tokenOf(1))).toMatchObject({ name: stored, symbol: stored })
        await store.writeLabels([{ address: addressOf(1), name: text }])
        expect(await store.label(addressOf(1))).toBe(stored)
        if (stored === '') continue
        const found = await store.search(stored.slice(0, 20).toLowerCase(), 5)
        expect(found.map(({ address }) => address).toSorted()).toEqual([addressOf(1), tokenOf(1)])
      }
      let parent = later.at(-1) as BlockRecord
      for (const [text, stored] of texts) {
        const next = new RandomBlocks({ seed: parent.number }).next(parent)
        const transaction = {
          ...(later.find(({ transactions }) => transactions.length > 0) as BlockRecord).transactions[0],
        }
        const failed = [{ transactionIndex: 0, error: text, output: new Uint8Array() }]
        const proofs = [
          {
            height: next.number,
            id: next.hash,
            miner: addressOf(1),
            timestamp: 1,
            difficulty: 1n,
            nonce: '0x',
            algorithm: text,
          },
        ] as const
        parent = {
          ...next,
          transactions: [transaction as BlockRecord['transactions'][0]],
          transfers: [],
          internal: [],
          failed,
          proofs,
        }
        await store.append([parent])
        expect((await store.failedExecution(parent.number, 0))?.error).toBe(stored.slice(0, 128))
        expect((await store.proofHeaders({ limit: 1, offset: 0, after: null })).items[0]?.algorithm).toBe(
          stored.slice(0, 128),
        )
      }
    })

    test('causes of failures are found by transaction, and leave with their block', async () => {
      const { store, blocks } = await filled(60)
      const rows = blocks.flatMap(({ number, failed }) => failed.map(row => ({ ...row, blockNumber: number })))
      expect(rows.length).toBeGreaterThan(10)
      for (const row of rows) expect(await store.failedExecution(row.blockNumber, row.transactionIndex)).toEqual(row)
      expect(await store.failedExecution(3, 1_000)).toBeUndefined()
      const last = rows.at(-1) as (typeof rows)[number]
      await store.rollback(last.blockNumber - 1)
      expect(await store.failedExecution(last.blockNumber, last.transactionIndex)).toBeUndefined()
    })

    test('proof headers are listed and summed by hour and day, blocks by who made them', async () => {
      const { store, blocks } = await filled(80)
      const proofs = blocks.flatMap(block => block.proofs)
      expect(proofs.length).toBeGreaterThan(5)
      const found = await readAll(page => store.proofHeaders(page), 4)
      expect(found.map(({ blockNumber: _, ...proof }) => proof)).toEqual(proofs.toReversed())
      const hours = await store.proofHours(0)
      expect(hours.reduce((sum, { work }) => sum + work, 0n)).toBe(
        proofs.reduce((sum, proof) => sum + proof.difficulty, 0n),
      )
      const days = await store.proofDays(0)
      expect(days.reduce((sum, { headers }) => sum + headers, 0)).toBe(proofs.length)
      const day = Math.floor((proofs[0]?.timestamp ?? 0) / 86_400)
      const miners = proofs.filter(proof => Math.floor(proof.timestamp / 86_400) === day).map(proof => proof.miner)
      expect(days[0]).toEqual({ day, headers: miners.length, miners: new Set(miners).size })
      for (const role of ['miner', 'proposer'] as const) {
        const made = await readAll(page => store.blocksBy(role, addressOf(1), page), 3)
        expect(made.map(({ number }) => number)).toEqual(
          blocks
            .filter(block => block[role] === addressOf(1))
            .map(({ number }) => number)
            .toReversed(),
        )
      }
    })

    test('rewards are summed by cycle, address and role', async () => {
      const { store, blocks } = await filled(60)
      for (const address of [0, 1, 2, 3].map(addressOf)) {
        const earned = new Map<string, readonly [blocks: number, wei: bigint]>()
        const add = (cycle: number, role: string, wei: bigint): void => {
          const [count, sum] = earned.get(`${cycle} ${role}`) ?? [0, 0n]
          earned.set(`${cycle} ${role}`, [count + 1, sum + wei])
        }
        for (const { cycle, proposer, miner, proposerWei, minerWei, minerCredits } of blocks) {
          if (proposer === address) add(cycle, 'union', proposerWei)
          const credit = minerCredits.find(one => one.address === address)?.amountWei
          if (miner === address || credit !== undefined)
            add(cycle, 'miner', (miner === address ? minerWei : 0n) + (credit ?? 0n))
        }
        const rows = await readAll(page => store.rewardsOf(address, page), 3)
        expect(new Map(rows.map(row => [`${row.cycle} ${row.role}`, [row.blocks, row.wei]]))).toEqual(earned)
        const cycles = rows.map(({ cycle }) => cycle)
        expect(cycles).toEqual(cycles.toSorted((a, b) => b - a))
      }
      const all = await store.rewardsOfCycle(3)
      expect(all.reduce((sum, { wei }) => sum + wei, 0n)).toBe(
        blocks
          .filter(({ cycle }) => cycle === 3)
          .reduce(
            (sum, { miner, minerWei, proposerWei, minerCredits }) =>
              minerCredits.reduce((credits, { amountWei }) => credits + amountWei, sum) +
              proposerWei +
              (miner === ZERO_ADDRESS ? 0n : minerWei),
            0n,
          ),
      )
      expect(await store.rewardsOfCycle(99)).toEqual([])
    })

    test('a cursor is stable while blocks arrive', async () => {
      const { store, blocks } = await filled(30)
      const first = await store.transactions({}, { limit: 5, offset: 0, after: null })
      const more = new RandomBlocks({ seed: 99, fork: 1 }).chain(5, blocks.at(-1) as BlockRecord)
      await store.append(more)
      const second = await store.transactions({}, { limit: 5, offset: 0, after: first.next })
      const all = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash)).toReversed()
      expect(second.items.map(({ hash }) => hash)).toEqual(all.slice(5, 10))
    })

    test('holders are ranked by balance, negative sums last and the zero address left out', async () => {
      const { store, blocks } = await filled(60)
      for (const token of [0, 1, 2, 3, 4].map(tokenOf)) {
        const sums = new Map<string, bigint>()
        for (const transfer of blocks.flatMap(({ transfers }) => transfers)) {
          if (transfer.token !== token) continue
          sums.set(transfer.from, (sums.get(transfer.from) ?? 0n) - transfer.amount)
          sums.set(transfer.to, (sums.get(transfer.to) ?? 0n) + transfer.amount)
        }
        const holding = [...sums].filter(([owner, sum]) => sum !== 0n && owner !== ZERO_ADDRESS)
        const found = await readAll(page => store.holders(token, page), 4)
        expect(new Map(found.map(({ owner, balance }) => [owner as string, balance]))).toEqual(new Map(holding))
        expect(found.every(({ balance }, index) => index === 0 || balance <= (found[index - 1]?.balance ?? 0n))).toBe(
          true,
        )
        expect((await store.token(token))?.holders).toBe(holding.length)
      }
    })

    test('accounts are ranked by transactions, tokens by transfers', async () => {
      const { store } = await filled(60)
      const accounts = await readAll(page => store.topAccounts(page), 7)
      expect(accounts.length).toBe((await store.counters()).addresses)
      const counts = accounts.map(({ transactions }) => transactions)
      expect(counts).toEqual(counts.toSorted((a, b) => b - a))
      const tokens = await readAll(page => store.tokens(page), 2)
      const transfers = tokens.map(token => token.transfers)
      expect(transfers).toEqual(transfers.toSorted((a, b) => b - a))
    })

    test('metadata and labels are found by prefix, and go with their token', async () => {
      const { store } = await filled(30)
      await store.writeToken(tokenOf(1), { name: 'Green Bean', symbol: 'GRB%', decimals: 6, supply: 2n ** 200n })
      await store.writeLabels([{ address: addressOf(5), name: 'Bean Exchange' }])
      expect(await store.token(tokenOf(1))).toMatchObject({ name: 'Green Bean', decimals: 6, supply: 2n ** 200n })
      expect(await store.search('bean', 10)).toEqual([
        { address: tokenOf(1), kind: 'token' },
        { address: addressOf(5), kind: 'label' },
      ])
      expect(await store.search('%', 10)).toEqual([])
      expect(await store.search('grb%', 10)).toHaveLength(1)
      expect(await store.label(addressOf(5))).toBe('Bean Exchange')
      await store.rollback(-1)
      expect(await store.search('bean', 10)).toEqual([{ address: addressOf(5), kind: 'label' }])
    })

    test('a recount equals the running sums through batches and rollbacks of any size', async () => {
      const seed = Number(process.env['SEED'] ?? 20_261_122)
      const random = createRandom(seed)
      const store = await opened()
      let blocks: BlockRecord[] = []
      for (let step = 0; step < 40; step++) {
        const source = new RandomBlocks({ seed: seed + step, fork: step % 10 })
        const added = source.chain(1 + random.below(12), blocks.at(-1))
        await store.append(added)
        blocks = [...blocks, ...added]
        if (random.below(3) === 0) {
          const to = random.below(blocks.length + 1) - 1
          await store.rollback(to)
          blocks = blocks.slice(0, to + 1)
        }
        expect(await recount(store), `SEED=${seed} step ${step}`).toEqual([])
        expect((await store.position())?.hash, `SEED=${seed}`).toBe(blocks.at(-1)?.hash)
      }
    })

    test('a transaction to the zero address that is taken back leaves no account of it: mints and burns are none', async () => {
      const [store, fresh] = [await opened(), await opened()]
      const blocks = new RandomBlocks({ seed: 61, addresses: 2, tokens: 2, transactions: 40 }).chain(12)
      const last = blocks.at(-1) as BlockRecord
      const [first, ...rest] = new RandomBlocks({ seed: 62, transactions: 40 }).chain(3, last) as [BlockRecord]
      const burning = first.transactions.map(row => ({ ...row, to: ZERO_ADDRESS, created: null, kind: 'transfer' }))
      const spent = { ...first, transactions: burning as typeof first.transactions, transfers: [], internal: [] }
      await store.append([...blocks, spent, ...rest])
      expect((await store.account(ZERO_ADDRESS))?.received).toBeGreaterThan(0)
      expect(await recount(store)).toEqual([])
      // What stays: the transactions, with the last block of theirs.
      await store.rollback(spent.number)
      expect((await store.account(ZERO_ADDRESS))?.lastBlock).toBe(spent.number)
      await store.rollback(last.number)
      await fresh.append(blocks)
      expect(await store.account(ZERO_ADDRESS)).toEqual(await fresh.account(ZERO_ADDRESS))
      expect(await store.counters()).toEqual(await fresh.counters())
      expect(await recount(store)).toEqual([])
    })

    test('a batch of which one row fails leaves nothing of itself, and the next one is taken in', async () => {
      const store = await opened()
      const blocks = new RandomBlocks({ seed: 51, transactions: 40 }).chain(30)
      await store.append(blocks.slice(0, 10))
      for (const rows of ['transactions', 'transfers', 'internal', 'proofs'] as const) {
        const at = blocks.findIndex((block, number) => number >= 10 && block[rows].length > 0)
        const bad = blocks.map((block, number) =>
          number === at ? { ...block, [rows]: [...block[rows], block[rows][0]] } : block,
        )
        await expect(store.append(bad.slice(10))).rejects.toThrow()
        expect((await store.position())?.number).toBe(9)
        expect(await recount(store)).toEqual([])
      }
      await store.append(blocks.slice(10))
      expect(await recount(store)).toEqual([])
      expect((await store.counters()).transactions).toBe(blocks.flatMap(({ transactions }) => transactions).length)
    })

    test('blocks that do not fit are refused whole', async () => {
      const { store, blocks } = await filled(20)
      const last = blocks.at(-1) as BlockRecord
      await expect(store.append([{ ...last, number: 25 }])).rejects.toThrow('follow the position')
      // A block whose second transaction has the place of the first is refused whole.
      const next = new RandomBlocks({ seed: 3, transactions: 40 }).next(last)
      const doubled = { ...next, transactions: [...next.transactions, ...next.transactions] }
      await expect(store.append([doubled])).rejects.toThrow()
      expect((await store.position())?.number).toBe(19)
      expect(await recount(store)).toEqual([])
    })
  })
}
