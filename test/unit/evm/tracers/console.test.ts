import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { consoleText, createConsoleTracer } from '../../../../src/evm/tracers/console-tracer.ts'
import { createMemoryCounter } from '../../../../src/evm/tracers/tracer-context.ts'

const call = (types: string, ...values: readonly unknown[]): Uint8Array => {
  const encoded = new Interface([`function log(${types})`]).encodeFunctionData('log', values)
  return Buffer.from(encoded.slice(2), 'hex')
}

test.each<[string, unknown[], string]>([
  ['', [], ''],
  ['string', ['hello'], 'hello'],
  ['uint256', [2n ** 256n - 1n], String(2n ** 256n - 1n)],
  ['int256', [-7n], '-7'],
  ['bool', [true], 'true'],
  ['address', [`0x${'Ab'.repeat(20)}`.toLowerCase()], `0x${'ab'.repeat(20)}`],
  ['bytes', ['0x1234'], '0x1234'],
  ['bytes4', ['0xdeadbeef'], '0xdeadbeef'],
  ['string,uint256', ['balance', 5n], 'balance 5'],
  ['string,uint256,string', ['%d of %s', 10n ** 30n, 'tokens'], '1000000000000000000000000000000 of tokens'],
  ['uint256,bool,address,string', [1n, false, `0x${'00'.repeat(20)}`, 'x'], `1 false 0x${'00'.repeat(20)} x`],
])('log(%s)', (types, values, text) => {
  expect(consoleText(call(types, ...values))).toBe(text)
})

test('every function of hardhat/console.sol is known', () => {
  const file = createRequire(import.meta.url).resolve('hardhat/console.sol')
  const signatures = [...readFileSync(file, 'utf8').matchAll(/encodeWithSignature\("log\(([\w,]*)\)"/g)]
  expect(signatures.length).toBeGreaterThan(350)
  const values: Record<string, unknown> = { string: 'a', bool: true, address: `0x${'11'.repeat(20)}`, bytes: '0x01' }
  const sampleOf = (type: string) =>
    type.startsWith('bytes') && type !== 'bytes' ? `0x${'01'.repeat(Number(type.slice(5)))}` : (values[type] ?? 7n)
  const unknown = signatures.filter(([, types = '']) => {
    const list = types === '' ? [] : types.split(',')
    const input = call(types, ...list.map(sampleOf))
    return consoleText(input) === `0x${Buffer.from(input).toString('hex')}`
  })
  expect(unknown).toEqual([])
})

test('calls that do not decode are shown as they are, long ones by their size', () => {
  const broken = call('string', 'hello').slice(0, 40)
  expect(consoleText(broken)).toBe(`0x${Buffer.from(broken).toString('hex')}`)
  expect(consoleText(Uint8Array.of(1, 2, 3, 4))).toBe('0x01020304')
  expect(consoleText(new Uint8Array(20_000))).toBe('19999 bytes and more')
})

test('the tracer keeps as many lines as its bound', () => {
  const tracer = createConsoleTracer({ memory: createMemoryCounter(1_000_000), output: {} as never })
  const frame = { depth: 1, type: 'STATICCALL', from: '0x', gas: 0n, value: undefined } as const
  const input = call('uint256', 1n)
  tracer.enter?.({ ...frame, to: `0x${'11'.repeat(20)}`, input })
  for (let i = 0; i < 300; i++) tracer.enter?.({ ...frame, to: '0x000000000000000000636f6e736f6c652e6c6f67', input })
  const lines = JSON.parse([...tracer.result()].join('')) as string[]
  expect(lines).toHaveLength(257)
  expect([lines[0], lines.at(-1)]).toEqual(['1', '44 further lines'])
})
