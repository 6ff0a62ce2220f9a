import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { afterEach, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { type ByzantineBlockKind, byzantineEnv } from '../support/hostile/byzantine-blocks.ts'
import { PROGRAMS } from '../support/hostile/programs.ts'
import { signerOf } from '../support/load.ts'
import { eventually } from '../support/node-process.ts'
import { scrape } from '../support/scrape.ts'

/*
 * Four real nodes, one of them or one client hostile: blocks go on. Not in shadow mode, where each block is executed by EthereumJS as
 * well, which nothing interrupts.
 */

const FAST = ['--execution', 'wasm']
/** `TURNS=4` gives each kind of Byzantine block a committee of its own and so many turns; by default all kinds take turns in one. */
const TURNS = Number(process.env['TURNS'] ?? 0)
const GWEI = 10n ** 9n

let committee: Committee
afterEach(async () => {
  await committee.close()
})

const peersOf = async (node: NodeOfMany): Promise<number> => Number(await node.rpc<Hex>('net_peerCount'))
const overruns = async ({ ready }: NodeOfMany): Promise<number> =>
  (await scrape(ready.metrics)).get('txpool_overruns_total') ?? 0
const isMined = async (node: NodeOfMany, hash: Hex): Promise<boolean> =>
  (await node.rpc('eth_getTransactionReceipt', hash)) !== null

/** A signer of transfers and of endless creations, with its nonce. */
const clientOf = (privateKey: Hex, chainId: number) => {
  const sign = signerOf(privateKey, chainId)
  let nonce = 0
  return {
    transfer: () => sign({ nonce: nonce++ }),
    endless: (data: Uint8Array, gwei: bigint) =>
      sign({ nonce: nonce++, to: null, data, gasLimit: 100_000_000n, maxFeePerGas: gwei * GWEI }),
  }
}

const chainIdOf = async (node: NodeOfMany): Promise<number> => Number(await node.rpc<Hex>('eth_chainId'))

test('a transaction that never ends halts no committee: each proposer gives it up, and again after a restart', async () => {
  committee = await Committee.open(4, 1, { args: [...FAST, '--metrics-port', '0'], accounts: 2 })
  await committee.start()
  const { nodes, accounts } = committee
  const [first, second] = nodes as [NodeOfMany, NodeOfMany]
  await first.reach(2)
  const [hostile, honest] = await Promise.all(
    accounts.map(async ({ privateKey }) => clientOf(privateKey, await chainIdOf(first))),
  )
  const attack = hostile!.endless(PROGRAMS['precompile calls'], 700n)
  const behind = hostile!.transfer()
  await first.rpc('eth_sendRawTransaction', attack.raw)
  await first.rpc('eth_sendRawTransaction', behind.raw)
  const start = await first.number()
  for (let at = 1; at <= 2; at++) {
    const { raw, hash } = honest!.transfer()
    await second.rpc('eth_sendRawTransaction', raw)
    await first.reach(start + 4 * at)
    await eventually(`honest transfer ${at}`, async () => (await isMined(first, hash)) || undefined)
  }
  // In its turn, each.
  const isGivenUp = () =>
    eventually('an overrun at every node', async () => {
      const counts = await Promise.all(nodes.map(overruns))
      return counts.every(count => count > 0) || undefined
    })
  await isGivenUp()
  expect(await isMined(first, attack.hash)).toBe(false)
  expect(await isMined(first, behind.hash)).toBe(false)

  await Promise.all(nodes.map(node => node.stop()))
  await committee.start()
  const head = await first.number()
  await Promise.all(nodes.map(node => node.reach(head + 5, 60_000)))
  await isGivenUp()
  expect(await isMined(first, attack.hash)).toBe(false)
  await eventually('all are connected', async () => {
    const counts = await Promise.all(nodes.map(peersOf))
    return counts.every(count => count === 3) || undefined
  })
})

interface KindOfBlock {
  readonly kind: ByzantineBlockKind
  readonly gas: number
  /** In the log of honest nodes. */
  readonly effect: RegExp
}

const KINDS: readonly KindOfBlock[] = [
  { kind: 'valid', gas: 400_000_000, effect: /round change|"gasUsed":"400000000"/ },
  { kind: 'wrong root', gas: 400_000_000, effect: /round change/ },
  { kind: 'beyond the bound', gas: 6_000_000_000, effect: /HEADER_GAS_USED/ },
  { kind: 'understated', gas: 6_000_000_000, effect: /round change|BODY_GAS_USED/ },
]
const RUNS = TURNS === 0 ? [KINDS] : KINDS.map(kind => [kind])

test.each(RUNS.map(kinds => [kinds.map(({ kind }) => kind).join(', '), kinds] as const))(
  'a proposer whose blocks take longer than their round holds up only its own turns: %s',
  async (_, blocks) => {
    committee = await Committee.open(4, 1, { args: FAST, accounts: 4 })
    const { nodes, accounts } = committee
    const [byzantine, ...honest] = nodes as [NodeOfMany, NodeOfMany, NodeOfMany, NodeOfMany]
    const keys = accounts.map(({ privateKey }) => privateKey)
    const kinds = blocks.map(({ kind }) => kind)
    await Promise.all([
      byzantine.start(committee.others(byzantine), [], { env: byzantineEnv({ keys, kinds, programs: ['loop'] }) }),
      ...honest.map(node => node.start(committee.others(node))),
    ])
    const sign = signerOf(bytesToHex(committee.funded), await chainIdOf(honest[0]!))
    await honest[0]!.reach(3)
    const turns = Math.max(TURNS, blocks.length)
    const proposed = ({ kind, gas }: KindOfBlock): number =>
      byzantine.log.split(`byzantine block: ${kind}, ${gas} gas`).length - 1
    // Of a round that has passed when the block comes, a node sees nothing.
    const isSeen = (block: KindOfBlock): boolean =>
      proposed(block) >= turns / blocks.length && block.effect.test(honest[0]!.log)
    for (let nonce = 0; nonce < 3 * turns; nonce++) {
      if (nonce >= turns && blocks.every(isSeen)) break
      const { raw, hash } = sign({ nonce })
      await honest[1]!.rpc('eth_sendRawTransaction', raw)
      const head = await honest[0]!.number()
      await Promise.all(honest.map(node => node.reach(head + 4, 60_000)))
      await eventually(`honest transfer ${nonce}`, async () => (await isMined(honest[0]!, hash)) || undefined)
    }
    for (const block of blocks) expect(proposed(block), byzantine.log).toBeGreaterThanOrEqual(turns / blocks.length)
    for (const { effect } of blocks) expect(honest[0]!.log).toMatch(effect)
    // Nobody honest is blamed, by anybody.
    for (const node of honest)
      await eventually(`peers of ${node.name}`, async () => (await peersOf(node)) >= 2 || undefined)
    for (const node of honest) expect(node.log).not.toMatch(/"level":"error"|validator misbehaved/)
  },
)
