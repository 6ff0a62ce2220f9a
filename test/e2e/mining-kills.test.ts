import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { eventually } from '../support/devnet.ts'
import { startMiner } from '../support/powchain/miner-process.ts'

/** `KILLS=40 npx vitest run --project e2e mining-kills`: the long form; each node once in CI. */
const KILLS = Number(process.env['KILLS'] ?? 4)
const VALIDATORS = 4
const MINER: Hex = '0x5ec0de0000000000000000000000000000000009'

interface ProofHeader {
  readonly number: Hex
  readonly id: Hex
  readonly miner: Hex
  readonly includedIn: Hex | null
}

let committee: Committee
beforeAll(async () => {
  committee = await Committee.open(VALIDATORS, 0.4, { args: ['--execution', 'wasm'] })
})
afterAll(() => committee.close())

/** Each node mines for an address of its own. */
const start = (node: NodeOfMany): Promise<void> => {
  const coinbase = `0x5ec0de000000000000000000000000000000010${committee.nodes.indexOf(node)}`
  return node.start(committee.others(node), ['--mine', '--mine-coinbase', coinbase, '--mine-duty', '0.2'])
}

/** Headers that a block of this node's chain includes, up to a height. */
const finalHeaders = async (node: NodeOfMany): Promise<readonly ProofHeader[]> => {
  const to = Number(await node.rpc<Hex>('native_proofBlockNumber'))
  const headers: ProofHeader[] = []
  for (let from = 1; from <= to; from += 100) {
    const range = [from, Math.min(to, from + 99)].map(at => `0x${at.toString(16)}`)
    headers.push(...(await node.rpc<ProofHeader[]>('native_getProofHeaderRange', ...range)))
  }
  return headers.filter(({ includedIn }) => includedIn !== null)
}

test(`${KILLS} times kill -9 to a node that mines, each in turn, and to a miner: no included header is lost, and both mine again`, async () => {
  const { nodes } = committee
  const [first, second] = nodes as [NodeOfMany, NodeOfMany]
  await Promise.all(nodes.map(start))
  const included = new Map<string, ProofHeader>()
  const note = async (node: NodeOfMany) => {
    for (const header of await finalHeaders(node)) {
      const known = included.get(header.number)
      if (known !== undefined) expect(header).toEqual(known)
      included.set(header.number, header)
    }
  }
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = nodes[kill % nodes.length] as NodeOfMany
    const [other] = committee.others(victim) as [NodeOfMany]
    const seen = included.size
    await eventually(
      'another header',
      () => finalHeaders(victim),
      ({ length }) => length > seen,
    )
    await note(victim)
    await victim.kill()
    const from = await other.number()
    await other.reach(from + 2)
    await note(other)
    await start(victim)
    await victim.reach(from + 2)
    await note(victim)
  }
  // A miner that dies and comes back goes on where work is now.
  const mineAt = (node: NodeOfMany) => startMiner(['--rpc', node.ready.operator as string, '--coinbase', MINER])
  const found = async () => (await finalHeaders(first)).filter(({ miner }) => miner === MINER).length
  let miner = mineAt(second)
  const before = await eventually('a header of the miner', found, count => count > 0)
  expect(await miner.stop('SIGKILL')).toEqual([null, 'SIGKILL'])
  miner = mineAt(second)
  try {
    // The last header of the killed one may be included late.
    const isMining = (text: string) => /[1-9]\d* accepted/.test(text)
    await eventually('work of the restarted miner', async () => miner.output(), isMining)
    await eventually('a header of the restarted miner', found, count => count > before)
  } finally {
    expect(await miner.stop()).toEqual([0, null])
  }
  // Every node has all of them, in the same blocks.
  const head = Math.max(...(await Promise.all(nodes.map(node => node.number()))))
  await Promise.all(nodes.map(node => node.reach(head)))
  for (const node of nodes) {
    const ids = new Map((await finalHeaders(node)).map(({ number, id }) => [number, id]))
    for (const { number, id } of included.values()) expect(ids.get(number), `header ${Number(number)}`).toBe(id)
  }
}, 600_000)
