import { Wallet } from 'ethers'
import { bytesToHex as hexOf, type TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TYPED_DATA_LIMITS } from '../../../src/config/limits/keys.ts'
import { KEY, SENDER } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'
import { ONE_KEY } from '../../support/rpc/services.ts'

let rig: Rig
beforeAll(async () => {
  rig = await Rig.start({ wallet: ONE_KEY, namespaces: { http: ['eth', 'personal'], ws: [] } })
})
afterAll(() => rig.stop())

const account = privateKeyToAccount(hexOf(KEY))
const OTHER = `0x${'cd'.repeat(20)}` as const
const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]
const domain = { name: 'Suite', version: '1', chainId: 1_998_999, verifyingContract: OTHER } as const
const person = (name: string, kids: object[] = []) => ({ name, wallet: OTHER, kids })
const types = {
  Person: [
    { name: 'name', type: 'string' },
    { name: 'wallet', type: 'address' },
    { name: 'kids', type: 'Person[]' },
  ],
  Mail: [
    { name: 'from', type: 'Person' },
    { name: 'to', type: 'Person[2]' },
    { name: 'amount', type: 'uint256' },
    { name: 'change', type: 'int64' },
    { name: 'body', type: 'bytes' },
    { name: 'tag', type: 'bytes4' },
    { name: 'urgent', type: 'bool' },
    { name: 'grid', type: 'uint8[2][]' },
  ],
}
const message = {
  from: person('a', [person('b')]),
  to: [person('ä'), person('')],
  amount: `${2n ** 256n - 1n}`,
  change: '-5',
  body: '0x010203',
  tag: '0x01020304',
  urgent: true,
  grid: [
    [1, 2],
    ['3', '0x4'],
  ],
}
const payload = { types: { EIP712Domain: DOMAIN_FIELDS, ...types }, primaryType: 'Mail', domain, message }
const signed = () => account.signTypedData({ types, primaryType: 'Mail', domain, message } as TypedDataDefinition)

describe('eth_signTypedData', () => {
  test.each(['eth_signTypedData_v4', 'eth_signTypedData_v3', 'eth_signTypedData'])(
    '%s signs as wallets do',
    async name => {
      expect(await rig.result(name, [SENDER, payload])).toBe(await signed())
      expect(await rig.result(name, [SENDER, JSON.stringify(payload)])).toBe(await signed())
    },
  )

  test('signs what ethers sends, and agrees with it', async () => {
    const permit = {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
    }
    const [value, wallet] = [{ owner: OTHER, value: 7n }, new Wallet(hexOf(KEY))]
    const sent = {
      types: { EIP712Domain: DOMAIN_FIELDS, ...permit },
      primaryType: 'Permit',
      domain: { ...domain, chainId: '1998999' },
      message: { ...value, value: '7' },
    }
    expect(await rig.result('eth_signTypedData_v4', [SENDER, JSON.stringify(sent)])).toBe(
      await wallet.signTypedData(domain, permit, value),
    )
  })

  test('passes over members that no type names, and takes a struct that is null for absent', async () => {
    const extra = { ...message, more: 1, from: { ...message.from, age: 7 } }
    expect(await rig.result('eth_signTypedData_v4', [SENDER, { ...payload, message: extra }])).toBe(await signed())
    const absent = (to: unknown) => ({
      ...payload,
      types: { ...payload.types, Note: [{ name: 'to', type: 'Person' }] },
      primaryType: 'Note',
      message: to === undefined ? {} : { to },
    })
    const nothing = await rig.result('eth_signTypedData_v4', [SENDER, absent(undefined)])
    expect(await rig.result('eth_signTypedData_v4', [SENDER, absent(null)])).toBe(nothing)
  })

  const many = Object.fromEntries(
    Array.from({ length: TYPED_DATA_LIMITS.types + 1 }, (_, i) => [`T${i}`, [{ name: 'a', type: 'uint8' }]]),
  )
  const deep = (levels: number): object => (levels === 0 ? person('x') : person('x', [deep(levels - 1)]))
  test.each([
    ['a number', 7, 'cannot unmarshal number'],
    ['text that is no JSON', 'hello', 'not typed data'],
    ['version 1', [{ type: 'string', name: 'a', value: 'b' }], 'version 1: use eth_signTypedData_v4'],
    ['no message', { ...payload, message: undefined }, 'message: json: cannot unmarshal'],
    ['fields that are none', { ...payload, types: { Mail: 7 } }, 'types.Mail: json: cannot unmarshal number'],
    ['a type that is none', { ...payload, types: { Mail: [{ name: 'a', type: {} }] } }, 'type: want a string'],
    ['an unknown primary type', { ...payload, primaryType: 'constructor' }, 'wrong primaryType'],
    ['a number out of its range', { ...payload, message: { ...message, grid: [[256, 1]] } }, 'bounds'],
    [
      'an address that is none',
      { ...payload, message: { ...message, from: { ...person('a'), wallet: '0x1' } } },
      'wallet|address|length|invalid',
    ],
    ['types that a prototype has', { ...payload, types: { Mail: [{ name: 'a', type: 'toString' }] } }, 'typed data'],
    [
      'too many types',
      { ...payload, types: { ...payload.types, ...many } },
      `more than ${TYPED_DATA_LIMITS.types} types`,
    ],
    ['too many levels', JSON.stringify({ ...payload, message: { ...message, from: deep(40) } }), 'nested deeper'],
    ['too many bytes', { ...payload, more: 'x'.repeat(TYPED_DATA_LIMITS.jsonBytes) }, 'larger than'],
    ['too many bytes of text', 'x'.repeat(TYPED_DATA_LIMITS.jsonBytes + 1), 'larger than'],
    ['levels without end', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'version 1'],
  ])('refuses %s in words', async (_, data, reason) => {
    const failure = await rig.failure('eth_signTypedData_v4', [SENDER, data])
    expect(failure).toMatch(/^-32602 invalid argument 2: /)
    expect(failure).toMatch(new RegExp(reason))
  })

  test('signs for no account that the node does not hold', async () => {
    expect(await rig.failure('eth_signTypedData_v4', [OTHER, payload])).toBe('-32000 unknown account')
    expect(await rig.failure('personal_sign', ['0xdeadbeef', OTHER])).toBe('-32000 unknown account')
  })
})

test('personal_sign is eth_sign the other way round', async () => {
  const signature = await account.signMessage({ message: { raw: '0xdeadbeef' } })
  for (const args of [
    ['0xdeadbeef', SENDER],
    ['0xdeadbeef', SENDER, 'password'],
  ])
    expect(await rig.result('personal_sign', args)).toBe(signature)
  expect(await rig.result('eth_sign', [SENDER, '0xdeadbeef'])).toBe(signature)
})
