import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'

const FORK = 12

let committee: Committee
beforeAll(async () => {
  committee = await Committee.open(4, 0.25, { params: { forks: { prague: FORK } }, args: ['--execution', 'wasm'] })
})
afterAll(() => committee.close())

test('a validator without a fork of the others says so, stops, keeps its data, and rejoins once it has it', async () => {
  const { nodes, dir, genesis } = committee
  const [first, last] = [nodes[0], nodes[3]] as [NodeOfMany, NodeOfMany]
  const without = join(dir, 'without.json')
  const file = JSON.parse(readFileSync(genesis, 'utf8'))
  writeFileSync(without, JSON.stringify({ ...file, params: { ...file.params, forks: { prague: null } } }))
  await Promise.all(nodes.map(node => node.start(committee.others(node), node === last ? ['--genesis', without] : [])))
  // The height of a fork is not part of the chain's identity.
  expect(await last.hashAt(0)).toBe(await first.hashAt(0))
  expect(await last.exited).toBe(1)
  expect(last.log).toContain(`The network decided block ${FORK}, which this node's rules refuse`)
  const later = await first.reach(FORK + 8)
  expect(await first.rpc('eth_config')).toMatchObject({ last: null })
  await last.start(committee.others(last))
  expect(await last.reach(FORK + 8)).toBe(later)
  // It votes again: with another one gone, blocks need it.
  await (nodes[1] as NodeOfMany).stop()
  const head = await first.number()
  await first.reach(head + 4)
  expect(await last.hashAt(head + 4)).toBe(await first.hashAt(head + 4))
})
