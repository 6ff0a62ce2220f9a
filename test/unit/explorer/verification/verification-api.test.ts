import { setTimeout as delay } from 'node:timers/promises'
import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../../src/crypto/checksum.ts'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import { CHAIN_ID } from '../../../support/chain.ts'
import { senderOn } from '../../../support/explorer/token-chain.ts'
import { type ApiRig, withApi } from '../api-rig.ts'
import { withPages } from '../page-rig.ts'
import { compileNamed, counterArguments, inputOf, linked, OLDER, SOURCES, VERSION } from './verified-contracts.ts'

// Each submission compiles in a process of its own, whose priority is low: a busy machine leaves it little time.
vi.setConfig({ testTimeout: 600_000 })

/** Pause between two questions about a job: the compiler runs at a low priority, and questions without a pause would keep it waiting. */
const POLL_MS = 20

/** Creates contracts in blocks of their own, by the second account. */
const creatorOn = ({ chain, mine }: ApiRig) => {
  const sender = senderOn(chain, 2)
  let nonce = 0
  return async (data: Uint8Array): Promise<Hex> => {
    const address = createAddress(sender.address, nonce++)
    await sender.submit({ to: null, data })
    await mine()
    return address
  }
}

const moduleCall = async ({ app }: ApiRig, fields: Readonly<Record<string, string>>) => {
  const response = await app.inject({
    method: 'POST',
    url: '/api',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ module: 'contract', ...fields }).toString(),
  })
  return response.json() as { status: string; message: string; result: string }
}

interface Claim {
  readonly address: Hex
  readonly contract: string
  readonly input?: object
  readonly compiler?: string
  readonly constructorArguments?: string
}

/** Submits as forge does, and returns the final answer. */
const verify = async (
  rig: ApiRig,
  { address, contract, input = inputOf(), compiler = VERSION, constructorArguments = '' }: Claim,
) => {
  const submitted = await moduleCall(rig, {
    action: 'verifysourcecode',
    contractaddress: address.toUpperCase().replace('0X', '0x'),
    sourceCode: JSON.stringify(input),
    codeformat: 'solidity-standard-json-input',
    contractname: contract,
    compilerversion: `v${compiler}`,
    constructorArguements: constructorArguments,
    constructorArguments,
  })
  if (submitted.status === '0') return submitted
  for (;;) {
    const answer = await moduleCall(rig, { action: 'checkverifystatus', guid: submitted.result })
    if (answer.result !== 'Pending in queue') return answer
    await delay(POLL_MS)
  }
}

test('library, immutable and constructor arguments verify exactly; wrong ones are named', () =>
  withApi(async rig => {
    const create = creatorOn(rig)
    const [library, counter] = [await compileNamed('Sums'), await compileNamed('Counter')]
    const libraryAddress = await create(library.creation.code)
    const given = counterArguments(5, 'Tally')
    const address = await create(concatBytes(linked(counter.creation, libraryAddress), given))
    const claim = { address, contract: 'src/Counter.sol:Counter' }
    expect(await moduleCall(rig, { action: 'getabi', address })).toMatchObject({
      status: '0',
      result: 'Contract source code not verified',
    })
    const wrong = await verify(rig, {
      ...claim,
      constructorArguments: bytesToHex(counterArguments(6, 'Tally')).slice(2),
    })
    expect(wrong.status).toBe('0')
    expect(wrong.result).toContain('Fail - Unable to verify. wrong constructor arguments')
    expect(wrong.result).toContain('("5","Tally")')

    const tampered = {
      ...SOURCES,
      'src/Counter.sol': SOURCES['src/Counter.sol'].replace('count, amount', 'amount, count'),
    }
    expect((await verify(rig, { ...claim, input: inputOf({}, tampered) })).result).toMatch(
      /the code of the chain has [0-9]+ bytes, the compiled one/,
    )
    expect((await verify(rig, { ...claim, compiler: OLDER })).result).toContain(
      'the code of the chain is of compiler 0.8.37, not 0.8.28',
    )
    expect((await verify(rig, { ...claim, compiler: '0.8.1+commit.00000000' })).result).toContain(
      'Invalid or not supported solc version',
    )

    // As hardhat submits: with the libraries, which are no part of the metadata on the chain.
    const libraries = { 'src/Sums.sol': { Sums: libraryAddress } }
    const passed = await verify(rig, {
      ...claim,
      input: inputOf({ libraries }),
      constructorArguments: bytesToHex(given),
    })
    expect(passed).toEqual({ status: '1', message: 'OK', result: 'Pass - Verified' })
    expect((await verify(rig, claim)).result).toBe('Contract source code already verified')

    const { body } = await rig.get(`/api/contracts/${address}/verify`)
    expect(body).toMatchObject({
      verified: true,
      match: 'exact',
      name: 'Counter',
      compilerVersion: VERSION,
      evmVersion: 'cancun',
      optimization: { enabled: true, runs: 200 },
      viaIR: false,
      license: 'MIT',
      constructorArguments: bytesToHex(given),
      proxy: null,
    })
    expect(Object.keys((body as { libraries: object }).libraries)).toEqual(['src/Sums.sol:Sums'])
    const source = (await rig.get(`/api?module=contract&action=getsourcecode&address=${address}`)).body
    const [result] = (source as { result: Record<string, string>[] }).result
    expect(result).toMatchObject({ ContractName: 'Counter', OptimizationUsed: '1', Runs: '200', Proxy: '0' })
    expect(JSON.parse((result?.['SourceCode'] ?? '').slice(1, -1)).sources).toHaveProperty(['src/Counter.sol'])
    expect((await rig.get(`/api/addresses/${address}`)).body).toMatchObject({
      isVerified: true,
      contractName: 'Counter',
    })
    expect((await rig.get('/api/stats')).body).toMatchObject({ totals: { verifiedContracts: 1 } })

    const by = senderOn(rig.chain, 1)
    const data = concatBytes(hexToBytes('0x1003e2d2'), hexToBytes(toWord(9n)))
    const call = await by.submit({ to: address, data })
    await rig.mine()
    expect((await rig.get(`/api/transactions/${call}`)).body).toMatchObject({
      decodedInput: { signature: 'add(uint256)', args: [{ name: 'amount', type: 'uint256', value: '9' }] },
      logs: [
        {
          decoded: {
            signature: 'Added(address,uint256)',
            args: [
              { name: 'by', value: checksumAddress(by.address) },
              { name: 'amount', value: '9' },
            ],
          },
        },
      ],
    })

    const libraryAnswer = await verify(rig, { address: libraryAddress, contract: 'Sums' })
    expect(libraryAnswer.result).toBe('Pass - Verified')
  }))

test('via-IR, other comments, and a single file', () =>
  withApi(async rig => {
    const create = creatorOn(rig)
    const compiled = await compileNamed('Plain', inputOf({ viaIR: true }))
    const address = await create(compiled.creation.code)
    const commented = { 'src/Plain.sol': `${SOURCES['src/Plain.sol']}\n// another comment` }
    const claim = { address, contract: 'src/Plain.sol:Plain' }
    expect((await verify(rig, { ...claim, input: inputOf({}) })).status).toBe('0')
    expect((await verify(rig, { ...claim, input: inputOf({ viaIR: true }, commented) })).result).toBe('Pass - Verified')
    expect((await rig.get(`/api/contracts/${address}/verify`)).body).toMatchObject({ match: 'partial', viaIR: true })
    // A partial match gives way to an exact one, and to nothing else.
    expect((await verify(rig, { ...claim, input: inputOf({ viaIR: true }, commented) })).result).toBe(
      'Already Verified',
    )
    expect((await verify(rig, { ...claim, input: inputOf({ viaIR: true }) })).result).toBe('Pass - Verified')
    expect((await rig.get(`/api/contracts/${address}/verify`)).body).toMatchObject({ match: 'exact' })

    const single = await create((await compileNamed('Plain')).creation.code)
    const submitted = await moduleCall(rig, {
      action: 'verifysourcecode',
      contractaddress: single,
      sourceCode: SOURCES['src/Plain.sol'],
      codeformat: 'solidity-single-file',
      contractname: 'Plain',
      compilerversion: `v${VERSION}`,
      optimizationUsed: '1',
      runs: '200',
      evmversion: 'cancun',
    })
    const answer = await moduleCall(rig, { action: 'checkverifystatus', guid: submitted.result })
    expect(['Pass - Verified', 'Pending in queue']).toContain(answer.result)
  }))

test('the same code from another constructor is partial, and the answers say what is not proven', () =>
  withPages(async rig => {
    const create = creatorOn(rig)
    const { runtime } = await compileNamed('Part')
    // Returns the code that follows, without the value that the source's constructor writes.
    const size = runtime.code.length.toString(16).padStart(4, '0')
    const address = await create(concatBytes(hexToBytes(`0x61${size}80600b5f395ff3fe`), runtime.code))
    expect((await verify(rig, { address, contract: 'src/Plain.sol:Part' })).result).toBe('Pass - Verified')
    const { body } = await rig.get(`/api/contracts/${address}/verify`)
    expect(body).toMatchObject({
      ...{ verified: true, match: 'partial', runtimeMatch: 'exact', creationMatch: 'different' },
      ...{ unproven: expect.stringContaining('the creation code differs'), constructorArguments: null },
    })
    const { text } = await rig.page(`/explorer/address/${address}?tab=contract`)
    expect(text).toContain('the deployed code is the same; the creation code differs')
    expect((await rig.get(`/api/v2/contract/${CHAIN_ID}/${address}`)).body).toMatchObject({
      ...{ match: 'match', runtimeMatch: 'exact_match', creationMatch: null },
    })
  }))

test('REST and the routes of Sourcify answer by their own shapes', () =>
  withApi(async rig => {
    const address = await creatorOn(rig)((await compileNamed('Plain')).creation.code)
    const post = async (url: string, payload: object) => {
      const response = await rig.app.inject({ method: 'POST', url, payload })
      return { status: response.statusCode, body: response.json() as Record<string, unknown> }
    }
    const before = await rig.get(`/api/v2/contract/${CHAIN_ID}/${address}`)
    expect([before.status, before.body]).toMatchObject([404, { match: null, chainId: String(CHAIN_ID) }])
    expect((await rig.get(`/api/v2/contract/1/${address}`)).body).toMatchObject({ customCode: 'unsupported_chain' })
    const claim = { stdJsonInput: inputOf(), compilerVersion: VERSION, contractIdentifier: 'src/Plain.sol:Plain' }
    const url = `/api/v2/verify/${CHAIN_ID}/${address}`
    expect((await post(url, { ...claim, compilerVersion: '0.8.1' })).body).toMatchObject({
      customCode: 'unsupported_compiler_version',
    })
    const submitted = await post(url, claim)
    expect(submitted.status).toBe(202)
    let job: Record<string, unknown>
    do {
      await delay(POLL_MS)
      job = (await rig.get(`/api/v2/verify/${submitted.body['verificationId']}`)).body as Record<string, unknown>
    } while (!job['isJobCompleted'])
    expect(job).toMatchObject({ contract: { match: 'exact_match', creationMatch: 'exact_match' } })
    expect(job).not.toHaveProperty('error')
    // Not the sources too, of which a thousand finished jobs would be gigabytes.
    const kept = rig.context.verification.verifier.job(submitted.body['verificationId'] as string)
    const names = ['match', 'creationMatch', 'runtimeMatch', 'verifiedAt']
    expect(Object.keys(kept?.result ?? {}).toSorted()).toEqual(names.toSorted())
    expect((await post(url, claim)).status).toBe(409)
    expect((await rig.get(`/api/v2/contract/${CHAIN_ID}/${address}?fields=abi,sources`)).body).toMatchObject({
      match: 'exact_match',
      sources: { 'src/Plain.sol': {} },
    })
    const again = await post(`/api/contracts/${address}/verify`, {
      compilerVersion: VERSION,
      contract: 'Plain',
      input: inputOf(),
    })
    expect([again.status, again.body]).toMatchObject([
      409,
      { error: { code: 'ALREADY_VERIFIED', requestId: expect.stringMatching(/^.+$/) } },
    ])
    expect((await rig.get(`/api/contracts/${address}/source`)).body).toMatchObject({ name: 'Plain', match: 'exact' })
    const none = await post(`/api/contracts/0x${'11'.repeat(20)}/verify`, {
      compilerVersion: VERSION,
      contract: 'Plain',
      input: inputOf(),
    })
    expect([none.status, none.body]).toMatchObject([404, { error: { code: 'NO_CODE' } }])
  }))
