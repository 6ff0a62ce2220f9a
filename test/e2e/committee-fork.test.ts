import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'

const FORK = 12
const SHA256: Hex = '0x0000000000000000000000000000000000000002'

let committee: Committee
beforeAll(async () => {
  committee = await Committee.open(4, 0.25, { params: { forks: { prague: FORK } }, args: ['--execution', 'wasm'] })
})
afterAll(() => committee.close())

test('a validator without a fork of the others says so, stops, keeps its data, and rejoins once it has it; a delegation reaches all', async () => {
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
  // A delegation reaches every member, whoever builds the block (EIP-7702).
  const owner = privateKeyToAccount(`0x${'7a'.repeat(32)}`)
  const chainId = Number(await last.rpc('eth_chainId'))
  const authorization = await owner.signAuthorization({ contractAddress: SHA256, chainId, nonce: 0 })
  const fees = { gas: 100_000n, maxFeePerGas: 50n * 10n ** 9n, maxPriorityFeePerGas: 0n, nonce: 0 }
  const payer = privateKeyToAccount(bytesToHex(committee.funded))
  const to = owner.address
  const raw = await payer.signTransaction({ type: 'eip7702', chainId, to, authorizationList: [authorization], ...fees })
  const hash = await last.rpc<Hex>('eth_sendRawTransaction', raw)
  for (const node of nodes) {
    const mined = () => node.rpc('eth_getTransactionReceipt', hash)
    await expect.poll(mined).toMatchObject({ status: '0x1', type: '0x4' })
    expect(await node.rpc('eth_getCode', to, 'latest')).toBe(`0xef0100${SHA256.slice(2)}`)
  }
  // It votes again: with another one gone, blocks need it.
  await (nodes[1] as NodeOfMany).stop()
  const head = await first.number()
  await first.reach(head + 4)
  expect(await last.hashAt(head + 4)).toBe(await first.hashAt(head + 4))
})
