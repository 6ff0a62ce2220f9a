import { readFileSync } from 'node:fs'
import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { parseGenesis } from '../../../src/config/genesis/genesis.ts'
import { PREDEPLOYS, predeployedAccounts } from '../../../src/config/genesis/predeploys.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'

/** Code hashes on Ethereum. */
const HASHES: Readonly<Record<Hex, Hex>> = {
  '0x4e59b44847b379578588920ca78fbf26c0b4956c': '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989',
  '0xca11bde05977b3631167028862be2a173976ca11': '0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891',
  '0x000000000022d473030f116ddee9f6b43ac78ba3': '0xc67d1657868aa5146eaf24fb879fb1fdec3d2d493b3683a61c9c2f4fb2851131',
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789': '0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70',
  '0x7fc98430eaedbb6070b35b39d798725049088348': '0xae818091eaaf1b6175ee41472359a689f3823d0908a41e2e5c4ad508f2fc04a3',
  '0x0000000071727de22e5e9d8baf0edac6f37da032': '0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58',
  '0xefc2c1444ebcc4db75e7613d20c6a62ff67a167c': '0x283c9d14378f5f4c4e24045b87d621d48443fa5b4af7dd7180a599b3756a7689',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108': '0x44e632a24c6f2600cbd5b5b8b4c2d372359112c8b5774297f5fd0a9e64f11f86',
  '0x449ed7c3e6fee6a97311d4b55475df59c44add33': '0xc69a1b3a000d570bc86eb096ee63a9014a17951ad616d720882ec61432b00fcf',
}

test('predeploys have the code that they have on Ethereum', () => {
  const accounts = predeployedAccounts(PREDEPLOYS)
  expect(Object.fromEntries([...accounts].map(([address, { code }]) => [address, keccak256Hex(code)]))).toEqual(HASHES)
  expect([...accounts.values()].map(({ nonce, balance }) => [nonce, balance])).toEqual(
    [1, 1, 1, 2, 1, 2, 1, 2, 1].map(nonce => [nonce, 0n]),
  )
})

test('docs/genesis.md lists them', () => {
  const page = readFileSync(new URL('../../../docs/genesis.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (0x\w{40}) \|/gm)].map(([, name, address]) => [
    name,
    address?.toLowerCase(),
  ])
  expect(rows).toEqual(PREDEPLOYS.map(name => [name, predeployedAccounts([name]).keys().next().value]))
})

const WORD = `0x${'11'.repeat(20)}`
const genesisWith = (over: object) =>
  parseGenesis(
    JSON.stringify({
      format: 'tandem/1',
      network: 'devnet',
      timestamp: 1,
      council: [{ name: 'a', validator: WORD, reward: WORD, stake: '35000000000000000000' }],
      foundation: WORD,
      alloc: {},
      ...over,
    }),
  )

test('a genesis file names them', () => {
  const { alloc } = genesisWith({ predeploys: ['multicall3', 'entryPoint07'] })
  expect([...alloc.keys()]).toEqual([
    '0xca11bde05977b3631167028862be2a173976ca11',
    '0x0000000071727de22e5e9d8baf0edac6f37da032',
    '0xefc2c1444ebcc4db75e7613d20c6a62ff67a167c',
  ])
  expect(() => genesisWith({ predeploys: ['multicall2'] })).toThrow(
    expect.objectContaining({ detail: expect.objectContaining({ problem: `want one of ${PREDEPLOYS.join(', ')}` }) }),
  )
  const twice = { '0xcA11bde05977b3631167028862bE2a173976CA11': { balance: '0' } }
  expect(() => genesisWith({ predeploys: ['multicall3'], alloc: twice })).toThrow(/leave it out/)
})
