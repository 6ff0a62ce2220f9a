import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { NodePort } from '@tandem/explorer/api/api-route.ts'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { attackerText } from '../../support/attacker-text.ts'
import { ACCOUNT_KEYS, ACCOUNTS } from '../../support/chain.ts'
import { senderOn, transferData } from '../../support/explorer/token-chain.ts'
import { SEED } from '../../support/seed.ts'
import { type PageRig, withPages } from './page-rig.ts'
import { inputWith, writeVerified } from './verified-page.ts'

vi.setConfig({ testTimeout: 120_000 })

const [, BOB] = ACCOUNTS as readonly [Hex, Hex]

const ABI = [
  { type: 'constructor', inputs: [{ name: 'first', type: 'uint256' }] },
  { type: 'function', name: 'name', inputs: [], outputs: [{ name: '', type: 'string' }], stateMutability: 'view' },
  {
    type: 'function',
    name: 'balanceOf',
    inputs: [{ name: 'who', type: 'address' }],
    outputs: [{ name: '', type: 'uint256' }],
    stateMutability: 'view',
  },
  {
    type: 'function',
    name: 'transfer',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
    stateMutability: 'nonpayable',
  },
  { type: 'function', name: 'buy', inputs: [], outputs: [], stateMutability: 'payable' },
  { type: 'error', name: 'TooMuch', inputs: [{ name: 'most', type: 'uint256' }] },
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'source', type: 'address', indexed: true },
      { name: 'target', type: 'address', indexed: true },
      { name: 'amount', type: 'uint256', indexed: false },
    ],
  },
]

const word = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const selectorOf = (signature: string): Uint8Array => keccak256(new TextEncoder().encode(signature)).subarray(0, 4)
const textData = (text: string): Uint8Array => {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(Math.ceil(bytes.length / 32) * 32)
  padded.set(bytes)
  return concatBytes(word(32n), word(BigInt(bytes.length)), padded)
}

/** Node that answers eth_call by the selector, and counts the calls. */
const nodeWith = (
  context: PageRig['context'],
  answers: Readonly<Record<string, object>>,
): { readonly node: NodePort; readonly calls: { data: string; gas: string }[] } => {
  const calls: { data: string; gas: string }[] = []
  const rpc = async (request: string): Promise<string> => {
    const { method, params } = JSON.parse(request) as { method: string; params: [{ data: string; gas: string }] }
    expect(method).toBe('eth_call')
    calls.push(params[0])
    return JSON.stringify({ jsonrpc: '2.0', id: 1, ...answers[params[0].data.slice(0, 10)] })
  }
  return { node: { ...context.node, rpc }, calls }
}

const returning = (data: Uint8Array): object => ({ result: bytesToHex(data) })

test('the source of a verified contract is shown with files, compiler, settings, arguments and ABI', () =>
  withPages(async ({ page, context, coin }) => {
    const unverified = (await page(`/explorer/address/${coin}?tab=contract`)).text
    expect(unverified).toContain('Not verified.')
    expect(unverified).toContain(`/explorer/verify?address=${coin}`)
    expect((await page(`/explorer/address/${coin}?tab=read`)).text).toContain('are not known')
    await writeVerified(context, coin, {
      abi: JSON.stringify(ABI),
      constructorArguments: toWord(77n),
      input: inputWith({ 'lib/A.sol': '// second', 'src/Coin.sol': 'contract Coin { // \u202Ehidden\n}' }),
      libraries: { 'lib/A.sol:A': BOB },
    })
    const { text } = await page(`/explorer/address/${coin}?tab=contract`)
    for (const shown of [
      'verified: exact',
      'solc <bdi class="name">0.8.37+commit.f401782d',
      'MIT',
      'contract Coin { // \u2039U+202E\u203Ahidden',
      '2 files',
      'lib/A.sol',
      '<bdi class="name">first</bdi> <small>uint256</small> <bdi class="value">77</bdi>',
      checksumAddress(BOB),
    ])
      expect(text, shown).toContain(shown)
    expect(text.indexOf('<code>src/Coin.sol</code>')).toBeLessThan(text.indexOf('<code>lib/A.sol</code>'))
    expect((await page(`/explorer/address/${coin}`)).text).toContain('verified: <bdi class="name">Coin</bdi>')
  }))

test('an account that delegates: its authorizations, its target and the source of that', () =>
  withPages(async ({ page, get, context, chain, coin, mine }) => {
    await writeVerified(context, coin, { abi: JSON.stringify(ABI) })
    const bob = privateKeyToAccount(bytesToHex(ACCOUNT_KEYS[1] as Uint8Array))
    const chainId = chain.genesis.params.chainId
    const signed = await bob.signAuthorization({ contractAddress: coin, chainId, nonce: 0 })
    const [r, s] = [signed.r, signed.s].map(hexToBytes) as [Uint8Array, Uint8Array]
    const list = [{ chainId: BigInt(chainId), address: coin, nonce: 0n, yParity: signed.yParity ?? 0, r, s }]
    const ends = { ...(list[0] as (typeof list)[0]), chainId: 0n, address: ZERO_ADDRESS, s: Uint8Array.of() }
    const sent = { type: 4 as const, to: BOB, gasLimit: 200_000n, data: transferData(BOB, 0n) }
    const hash = await senderOn(chain, 2).submit({ ...sent, authorizationList: [...list, ends] })
    await mine()
    const target = checksumAddress(coin)
    expect((await get(`/api/transactions/${hash}`)).body).toMatchObject({
      authorizations: [
        { authority: checksumAddress(BOB), address: target, nonce: '0', chainId: String(chainId) },
        { authority: null, address: ZERO_ADDRESS, nonce: '0', chainId: '0' },
      ],
      decodedInput: { signature: 'transfer(address,uint256)', verified: true },
    })
    const { text } = await page(`/explorer/tx/${hash}`)
    for (const shown of ['Delegations', 'unknown signer', 'none: ends its delegation', 'of any chain'])
      expect(text, shown).toContain(shown)
    expect((await get(`/api/addresses/${BOB}`)).body).toMatchObject({ isContract: false, delegatedTo: target })
    const contract = (await page(`/explorer/address/${BOB}?tab=contract`)).text
    for (const shown of ['delegated to', 'Delegation', 'verified: exact', target])
      expect(contract, shown).toContain(shown)
    expect(contract).not.toContain('Not verified.')
    expect((await page(`/explorer/address/${BOB}?tab=read`)).text).toContain('balanceOf')
  }))

test('verified belongs to the code and its creation, everywhere', () =>
  withPages(async ({ context, coin, get, page }) => {
    const creation = (await context.index.account(coin))?.creationTransaction ?? null
    const isVerified = async () => ({
      status: ((await get(`/api/contracts/${coin}/verify`)).body as { verified: boolean }).verified,
      address: ((await get(`/api/addresses/${coin}`)).body as { isVerified: boolean }).isVerified,
      token: ((await get(`/api/tokens/${coin}`)).body as { verified: boolean }).verified,
      tokens: ((await get('/api/tokens')).body as { items: { verified: boolean }[] }).items[0]?.verified,
      search: ((await get(`/api/search?q=${coin}`)).body as { results: { verified: boolean }[] }).results[0]?.verified,
      named: ((await get('/api/search?q=green')).body as { results: { verified: boolean }[] }).results[0]?.verified,
      page: (await page(`/explorer/token/${coin}`)).text.includes('verified source'),
      module:
        ((await get(`/api?module=contract&action=getsourcecode&address=${coin}`)).body as { status: string }).status ===
        '1',
    })
    const all = (value: boolean) => ({
      ...{ status: value, address: value, token: value, tokens: value },
      ...{ search: value, named: value, page: value, module: value },
    })
    await writeVerified(context, coin, { creationTransaction: creation })
    expect(await isVerified()).toEqual(all(true))
    // The same code, made by a transaction that is not on the chain, or was not the last one to make it.
    await writeVerified(context, coin, { creationTransaction: `0x${'12'.repeat(32)}` })
    expect(await isVerified()).toEqual(all(false))
    // Another code at the address.
    await writeVerified(context, coin, { codeHash: `0x${'34'.repeat(32)}`, creationTransaction: creation })
    expect(await isVerified()).toEqual(all(false))
  }))

test('functions are called by form: values, reverts, wrong arguments, and no more calls than the page may make', () =>
  withPages(async ({ page, context, coin }) => {
    await writeVerified(context, coin, { abi: JSON.stringify(ABI) })
    const { node, calls } = nodeWith(context, {
      '0x06fdde03': returning(textData('Green <b>Bean')),
      '0x70a08231': returning(word(250n)),
    })
    const read = `/explorer/address/${coin}?tab=read`
    const first = (await page(read, { node })).text
    expect(first).toContain('Green &lt;b&gt;Bean')
    expect(calls.map(({ data, gas }) => [data, Number(gas)])).toEqual([['0x06fdde03', 200_000]])
    const asked = (await page(`${read}&f=0x70a08231&a0=${BOB}`, { node })).text
    expect(asked).toContain('<bdi class="value">250</bdi>')
    expect(asked).toContain(`value="${BOB}"`)
    expect(calls.at(-1)).toMatchObject({ data: `0x70a08231${toWord(BigInt(BOB)).slice(2)}`, gas: '0x989680' })
    calls.length = 0
    const wrong = (await page(`${read}&f=0x70a08231&a0=bob`, { node })).text
    expect(wrong).toContain('An address has 0x and 40 hex digits.')
    expect(wrong).toContain('aria-invalid="true"')
    expect(calls).toHaveLength(1)
    const most = concatBytes(selectorOf('TooMuch(uint256)'), word(5n))
    for (const [answer, shown] of [
      [{ error: { code: 3, message: 'execution reverted', data: bytesToHex(most) } }, 'TooMuch(5)'],
      [{ error: { code: -32000, message: 'out of <gas>' } }, 'out of &lt;gas&gt;'],
      [returning(new Uint8Array()), 'It returned nothing.'],
      [returning(new Uint8Array(31)), 'something else than its ABI says'],
      [{ result: 7 }, 'The node gave no answer.'],
      [{ result: `0x${'00'.repeat(200_000)}` }, 'too long for a page'],
    ] as const) {
      const failing = nodeWith(context, { '0x06fdde03': returning(textData('x')), '0x70a08231': answer })
      expect((await page(`${read}&f=0x70a08231&a0=${BOB}`, { node: failing.node })).text).toContain(shown)
    }
  }))

test('a contract with many functions has eight of them called', () =>
  withPages(async ({ page, context, coin }) => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({ ...ABI[1], name: `f${at}` }))
    await writeVerified(context, coin, { abi: JSON.stringify(many) })
    let calls = 0
    const node = {
      ...context.node,
      rpc: async () => {
        calls++
        return JSON.stringify(returning(textData('x')))
      },
    }
    const { text } = await page(`/explorer/address/${coin}?tab=read`, { node })
    expect(calls).toBe(8)
    expect(text.match(/<li id="f-/g)).toHaveLength(250)
  }))

test('writes are encoded by the node and left to a wallet', () =>
  withPages(async ({ page, context, coin }) => {
    await writeVerified(context, coin, { abi: JSON.stringify(ABI) })
    const write = `/explorer/address/${coin}?tab=write`
    expect((await page(write)).text).not.toContain('data-transaction')
    const { text } = await page(`${write}&f=0xa9059cbb&a0=${BOB}&a1=250`)
    const prepared = /data-transaction="([^"]+)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') as string
    expect(JSON.parse(prepared)).toEqual({
      to: coin,
      data: bytesToHex(transferData(BOB, 250n)),
      value: '0x0',
      gasPrice: '0x66720b300',
    })
    const paying = (await page(`${write}&f=0xa6f2ae3a&value=1.5`)).text
    expect(paying).toContain('&quot;value&quot;:&quot;0x14d1120d7b160000&quot;')
    expect((await page(`${write}&f=0xa6f2ae3a&value=x`)).text).toContain('Write an amount')
    expect((await page(`${write}&f=0xffffffff`)).text).not.toContain('data-transaction')
  }))

test('calls and logs of a verified contract are shown with its names', () =>
  withPages(async ({ page, context, coin, hashes }) => {
    await writeVerified(context, coin, { abi: JSON.stringify(ABI) })
    const { text } = await page(`/explorer/tx/${hashes[1]}`)
    expect(text).toContain('transfer(address,uint256)')
    expect(text).toContain('verified ABI')
    const logs = (await page(`/explorer/tx/${hashes[1]}?tab=logs`)).text
    expect(logs).toContain('<bdi class="name">target</bdi>')
  }))

const tagsOf = (text: string): readonly string[] => text.match(/<\/?[a-z!][a-z0-9]*/gi) ?? []
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u

test('sources, names, settings and values that an attacker chose add no tag and no invisible character', () =>
  withPages(async ({ page, context, coin, hashes }) => {
    const pagesWith = async (text: string): Promise<readonly string[]> => {
      const named = { name: text, type: 'uint256' }
      const abi = [
        { type: 'constructor', inputs: [named] },
        { type: 'function', name: text, inputs: [named], outputs: [named], stateMutability: 'view' },
        { type: 'function', name: `${text}2`, inputs: [named], outputs: [named], stateMutability: 'payable' },
        { ...ABI[1], outputs: [{ name: text, type: 'string' }] },
        { ...ABI[3], inputs: [{ name: text, type: 'address' }, named] },
      ]
      await writeVerified(context, coin, {
        abi: JSON.stringify(abi),
        name: text,
        path: text,
        license: text.slice(0, 80),
        compiler: text.slice(0, 80),
        constructorArguments: toWord(1n),
        libraries: { [text]: BOB },
        input: inputWith({ [text]: `${text}`.replaceAll('\n', ' ') }),
      })
      const { node } = nodeWith(context, { '0x06fdde03': returning(textData(text.toWellFormed())) })
      const at = `/explorer/address/${coin}`
      const paths = [at, `${at}?tab=contract`, `${at}?tab=read`, `${at}?tab=write`, `/explorer/tx/${hashes[1]}`]
      return Promise.all(paths.map(async path => (await page(path, { node })).text))
    }
    const plain = await pagesWith('x')
    await fc.assert(
      fc.asyncProperty(attackerText(), async text => {
        const made = await pagesWith(`x${text}`)
        made.forEach((shown, at) => {
          expect(tagsOf(shown)).toEqual(tagsOf(plain[at] as string))
          expect(HIDDEN.test(shown.replaceAll('\n', '').replaceAll('\t', ''))).toBe(false)
        })
      }),
      { seed: SEED, numRuns: 25 },
    )
  }))

test('the form submits, keeps what was entered when it is refused, and leads to the result', () =>
  withPages(async ({ post, page, context, coin }) => {
    const form = { address: coin, contract: 'Coin', compiler: '0.8.37+commit.f401782d', format: 'file' }
    const refused = await post('/explorer/verify', { ...form, contract: '1<b>', source: 'contract <i>' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('the contract must be named')
    expect(refused.text).toContain('contract &lt;i&gt;</textarea>')
    expect(refused.text).toContain('value="1&lt;b&gt;"')
    for (const [changes, message] of [
      [{ address: '0x12' }, '40 hex digits'],
      [{ source: ' ' }, 'Paste the source code'],
      [{ runs: 'x', optimizer: '1' }, 'whole number'],
      [{ arguments: '0x1' }, 'two for each byte'],
      [{ compiler: '9.9.9' }, 'not supported solc version'],
      [{ address: BOB }, 'Unable to locate ContractCode'],
      [{ format: 'json' }, 'is not JSON'],
    ] as const) {
      const answer = await post('/explorer/verify', { ...form, source: 'contract Coin {}', ...changes })
      expect([answer.status, answer.text.includes(message)], message).toEqual([400, true])
    }
    const { status, headers } = await post('/explorer/verify', { ...form, source: 'contract Coin {}' })
    expect(status).toBe(303)
    const job = headers['location'] as string
    expect(job).toMatch(/^\/explorer\/verify\/[0-9a-f]{48}$/)
    const id = job.split('/').at(-1) as string
    while ((await context.verification.verifier.waitFor(id))?.result === null);
    const { text } = await page(job)
    expect(text).toContain('Not verified')
    expect(text).toContain('Submit again')
    expect(text).toContain('The source code is not the one of this contract, as submitted.')
    expect((await page(`/explorer/verify/${'0'.repeat(48)}`)).status).toBe(404)
    expect((await page('/explorer/verify/x')).status).toBe(400)
  }))

test('what the compiler says of a submission is shown in its lines, and is not cut as a name', () =>
  withPages(async ({ post, page, context, coin }) => {
    const form = { address: coin, contract: 'Coin', compiler: '0.8.37+commit.f401782d', format: 'file' }
    const { headers } = await post('/explorer/verify', { ...form, source: 'contract Coin {\n  uint x = y;\n}' })
    const job = headers['location'] as string
    while ((await context.verification.verifier.waitFor(job.split('/').at(-1) as string))?.result === null);
    const { text } = await page(job)
    expect(text).toContain('The source code could not be compared with this contract.')
    expect(text).toContain('DeclarationError: Undeclared identifier.\n')
    expect(text).toContain('2 |   uint x = y;\n  |            ^')
  }))

test('an answer that the node does not pass on is too long for a page, and a trace of that kind is none', () =>
  withPages(async ({ page, context, coin, hashes }) => {
    await writeVerified(context, coin, { abi: JSON.stringify(ABI) })
    const rpc = (): Promise<never> => Promise.reject(new CodedError({ code: 'ANSWER_TOO_LONG', limit: 1 }))
    const node = { ...context.node, rpc }
    const read = await page(`/explorer/address/${coin}?tab=read`, { node })
    expect([read.status, read.text]).toEqual([200, expect.stringContaining('The answer is too long for a page.')])
    const calls = await page(`/explorer/tx/${hashes[1]}?tab=calls`, { node })
    expect([calls.status, calls.text]).toEqual([200, expect.stringContaining('This node does not show calls.')])
  }))
