import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedRaw } from '../support/chain.ts'
import { tandem } from '../support/command.ts'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { type DiskError, FailingDisk, whyNoFailingDisk } from '../support/disk/failing-disk.ts'
import { eventually, sleep } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'

/** `PLACES=50 npx vitest run --project e2e snapshot.test`: the long form of the failing disk. */
const PLACES = Number(process.env['PLACES'] ?? 3)
const BLOCK_SECONDS = 0.25
const CYCLE = 6
const INTERVAL = 12
/** Stores the word it is called with in the slot of that number. */
const KEEPER_CODE: Hex = '0x600035805500'

const address = (kind: number, index: number): Hex =>
  `0x${kind.toString(16).padStart(8, '0')}${index.toString(16).padStart(32, '0')}`
const KEEPER = address(3, 0)

const words = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [toWord(BigInt(at + 1_000)), toWord(BigInt(at + 1))]))

interface GenesisFile {
  readonly alloc: Record<Hex, { balance: string; code?: Hex; storage?: Record<Hex, Hex> }>
}

/** Some hundred accounts, contracts with some storage, and one with so much that it comes in chunks of its own. */
const populate = (genesis: GenesisFile): void => {
  for (let index = 0; index < 400; index++) genesis.alloc[address(1, index)] = { balance: String(index + 1) }
  for (let index = 0; index < 40; index++)
    genesis.alloc[address(2, index)] = {
      balance: '1',
      code: `0x60${(index % 7).toString(16).padStart(2, '0')}00`,
      storage: words(5),
    }
  genesis.alloc[KEEPER] = { balance: '0', code: KEEPER_CODE, storage: words(2_500) }
}

describe('a follower that begins with a snapshot', () => {
  let committee: Committee
  let validators: readonly NodeOfMany[]

  const start = (node: NodeOfMany, more: readonly string[] = []) =>
    node.start([], ['--sync', 'snapshot', '--bootnodes', (validators[0] as NodeOfMany).url, ...more])

  beforeAll(async () => {
    committee = await Committee.open(4, BLOCK_SECONDS, {
      params: { rewards: { cycleBlocks: CYCLE } },
      args: ['--execution', 'wasm'],
    })
    const genesis = JSON.parse(readFileSync(committee.genesis, 'utf8')) as GenesisFile
    populate(genesis)
    writeFileSync(committee.genesis, JSON.stringify(genesis))
    validators = [...committee.nodes]
    const [first] = validators as [NodeOfMany]
    await committee.start(['--snapshot-interval', String(INTERVAL)])
    for (let nonce = 0; nonce < 30; nonce++) {
      const call = { to: KEEPER, data: hexToBytes(toWord(BigInt(nonce + 1))), gasLimit: 200_000n }
      const fields = nonce % 2 === 0 ? { to: address(4, nonce), value: 7n } : call
      await first.rpc('eth_sendRawTransaction', bytesToHex(signedRaw(committee.funded, { nonce, ...fields })))
    }
    await first.reach(INTERVAL + 2 * CYCLE + 2)
    await eventually('a snapshot', async () => (first.log.includes('snapshot made') ? true : undefined)).catch(e => {
      console.log(first.log.slice(-3000))
      throw e
    })
  })
  afterAll(() => committee.close())

  const sameAnswer = async (node: NodeOfMany, method: string, ...params: readonly unknown[]) => {
    const [theirs, ours] = await Promise.all([
      (validators[0] as NodeOfMany).rpc(method, ...params),
      node.rpc(method, ...params),
    ])
    expect(ours).toEqual(theirs)
    return ours
  }

  const checkFollower = async (node: NodeOfMany): Promise<void> => {
    const first = validators[0] as NodeOfMany
    const number = await first.number()
    const hash = await node.reach(number + 4)
    expect(hash).toBe(await first.reach(number + 4))
    const at = `0x${(number + 4).toString(16)}`
    await sameAnswer(node, 'eth_getBalance', address(1, 399), at)
    await sameAnswer(node, 'eth_getBalance', address(4, 2), at)
    await sameAnswer(node, 'eth_getCode', KEEPER, at)
    expect(await sameAnswer(node, 'eth_getStorageAt', KEEPER, toWord(3_499n), at)).toBe(toWord(2_500n))
    await sameAnswer(node, 'eth_getStorageAt', KEEPER, toWord(2n), at)
    await sameAnswer(node, 'eth_getProof', KEEPER, [toWord(1_200n)], at)
    await sameAnswer(node, 'native_getTotalSupply', at)
    await sameAnswer(node, 'native_getCouncil')
    // Blocks before the snapshot are fetched with their receipts, while the node follows.
    const fetched = () =>
      node.rpc('eth_getBlockReceipts', '0x1').then(
        () => true as const,
        () => undefined,
      )
    await eventually('the blocks before the snapshot', fetched)
    await sameAnswer(node, 'eth_getBlockReceipts', '0x1')
    await sameAnswer(node, 'eth_getBlockByNumber', '0x3', true)
    await sameAnswer(node, 'eth_getLogs', { fromBlock: '0x0', toBlock: at })
    await expect(node.rpc('eth_getBalance', KEEPER, '0x1')).rejects.toThrow('missing trie node')
    await eventually('the end of the sync', async () => (await node.rpc('eth_syncing')) === false || undefined)
  }

  /** It is started anew once the snapshot is whole: until then its chain is at genesis, and for a moment nobody answers. */
  const begun = (node: NodeOfMany): Promise<true> =>
    eventually('the snapshot', async () => ((await node.number().catch(() => 0)) >= INTERVAL ? true : undefined))

  const expectWhole = async (node: NodeOfMany, name: string): Promise<void> => {
    expect((await node.stop()).code).toBe(0)
    const verified = await tandem(['db', 'verify', '--datadir', join(committee.dir, name), '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] })
  }

  test('has the state, the history and the blocks that follow; its database is whole', async () => {
    const node = await committee.add('follower')
    await start(node)
    await begun(node)
    expect(node.log).toContain('snapshot sync finished')
    await checkFollower(node)
    expect(node.log).not.toContain('"level":"error"')
    await expectWhole(node, 'follower')
    // It goes on as any other node.
    await start(node)
    await checkFollower(node)
    expect(node.log).not.toContain('snapshot chosen')
    await node.stop()
  })

  test('survives kills while it takes the snapshot in', async () => {
    const node = await committee.add('killed')
    const moments = [
      ['network started', 150],
      ['snapshot chosen', 0],
      ['snapshot chosen', 40],
      ['snapshot sync finished', 0],
    ] as const
    for (const [mark, delayMs] of moments) {
      await start(node)
      // A moment that is past by now does not come again.
      const marked = async () => (node.log.includes(mark) ? true : undefined)
      await eventually(mark, marked, { withinMs: 2_500, everyMs: 5 }).catch(() => undefined)
      await sleep(delayMs)
      await node.kill()
    }
    await start(node)
    await begun(node)
    await checkFollower(node)
    await expectWhole(node, 'killed')
  })

  const why = whyNoFailingDisk()
  test.skipIf(why !== undefined)(
    `survives a disk that fails while it takes the snapshot in${why === undefined ? '' : ` (skipped: ${why})`}`,
    async () => {
      const random = createRandom(SEED)
      const node = await committee.add('unlucky')
      const disk = new FailingDisk(node.dataDir)
      try {
        for (let place = 0; place < PLACES; place++) {
          const error = (['ENOSPC', 'EIO', 'EROFS'] as const)[random.below(3)] as DiskError
          const skipped = random.below(500)
          const what = `${error} after ${skipped} operations`
          // Half of them go on with what the one before left.
          if (random.chance(0.5))
            for (const name of readdirSync(node.dataDir).filter(name => /^db|^consensus$/.test(name)))
              rmSync(join(node.dataDir, name), { recursive: true })
          disk.fail(error, skipped, error !== 'EROFS' && random.chance(0.5) ? 1 + random.below(3) : 0)
          const starting = node.start([], ['--sync', 'snapshot', '--bootnodes', (validators[0] as NodeOfMany).url], {
            env: disk.env,
          })
          await starting.catch(() => undefined)
          const code = await Promise.race([node.exited, sleep(5_000).then(() => 'runs')])
          if (code === 'runs') {
            disk.mend()
            await node.stop()
            continue
          }
          expect(code, what).toBe(1)
          expect(node.log, what).toMatch(/Free disk space/)
        }
        expect(disk.seen).toBeGreaterThan(0)
      } finally {
        disk.remove()
      }
      await start(node)
      await begun(node)
      await checkFollower(node)
      await expectWhole(node, 'unlucky')
    },
    150_000 + PLACES * 15_000,
  )

  test('passes a checkpoint that is right; a wrong one ends it, at its start or when it comes there, and says what to do', async () => {
    const [first] = validators as [NodeOfMany]
    const node = await committee.add('careful')
    await start(node, ['--checkpoint', `${INTERVAL - 2}:${await first.hashAt(INTERVAL - 2)}`])
    await begun(node)
    await checkFollower(node)
    await node.stop()
    const wrong = ['--checkpoint', `3:${toWord(7n)}`]
    await expect(start(node, wrong)).rejects.toThrow(
      /Block 3 of this chain is 0x\w+, --checkpoint says .* start with an empty --datadir/,
    )
    const misled = await committee.add('misled')
    await misled.start([first], wrong).catch(() => undefined)
    expect(await misled.exited).toBe(1)
    expect(misled.log).toContain('Block 3 of this chain is')
  })

  test('that is a validator whose folder was lost is silent until that is safe, and votes again', async () => {
    const [first, , , last] = validators as [NodeOfMany, NodeOfMany, NodeOfMany, NodeOfMany]
    expect((await last.stop()).code).toBe(0)
    for (const name of readdirSync(last.dataDir))
      if (name !== 'node-key.pem') rmSync(join(last.dataDir, name), { recursive: true })
    await last.start(committee.others(last), ['--sync', 'snapshot'])
    await begun(last)
    await eventually('a block of its own', async () => {
      const { proposer } = await first.rpc<{ proposer: Hex }>('eth_getBlockByNumber', 'latest', false)
      return proposer === last.validator ? true : undefined
    })
    await checkFollower(last)
    expect(last.log).toContain('snapshot sync finished')
    const errorsIn = (log: string) => log.split('\n').filter(line => line.includes('"level":"error"'))
    const silent = expect.stringContaining('following only, until others decided')
    for (const error of errorsIn(last.log)) expect(error).toEqual(silent)
    // The second start begins with the trie. With a snapshot younger than its last vote it need not be silent, for the heights of
    // all its votes are over.
    const [, afterwards = ''] = last.log.split('state trie opened')
    if (errorsIn(afterwards).length > 0) expect(afterwards).toContain('quarantine ended, voting again')
    for (const validator of validators) expect(validator.log).not.toContain('evidence')
  })
})
