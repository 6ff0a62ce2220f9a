import { expect } from 'vitest'
import { outcomeOf } from '../endpoint.ts'
import { DISABLED, HELD, NOBODY, PAYER, type TestNetwork } from '../networks.ts'
import { type Check, expectOutcome, notServed, onAll, type SectionChecks } from './check.ts'

const FEES = { gas: '0x5208', gasPrice: '0x6fc23ac00' }
const CALL = { from: HELD, to: NOBODY, value: '0x1' }
const MISSING_FEES = '-32000 missing gasPrice or maxFeePerGas/maxPriorityFeePerGas'
const UNKNOWN = '-32000 unknown account'
const TYPED = {
  types: { EIP712Domain: [{ name: 'name', type: 'string' }], Mail: [{ name: 'text', type: 'string' }] },
  primaryType: 'Mail',
  domain: { name: 'Post' },
  message: { text: 'hello' },
}

/** Signing methods: arguments, their first error on a public port, and their result on the operator port. */
const SIGNING: Readonly<Record<string, readonly (readonly [readonly unknown[], string])[]>> = {
  eth_sign: [
    [[], '-32602 missing value for required argument 1'],
    [[HELD], '-32602 missing value for required argument 2'],
    [[HELD, '1234'], '-32602 invalid argument 2: hex string without 0x prefix'],
    [[HELD, '0x1234'], UNKNOWN],
    [[NOBODY, '0x1234'], UNKNOWN],
  ],
  eth_signTypedData_v4: [
    [[HELD], '-32602 missing value for required argument 2'],
    [[HELD, TYPED], UNKNOWN],
    [[NOBODY, TYPED], UNKNOWN],
  ],
  eth_signTransaction: [
    [[], '-32602 missing value for required argument 1'],
    [[{ ...CALL, gas: '0x00' }], '-32602 invalid argument 1: gas: hex number with leading zero digits'],
    [[CALL], MISSING_FEES],
    [[{ ...CALL, from: NOBODY }], MISSING_FEES],
    [[{ to: NOBODY }], MISSING_FEES],
    [[{ ...CALL, ...FEES }], UNKNOWN],
    [[{ ...CALL, maxFeePerGas: '0x6fc23ac00' }], UNKNOWN],
    [[{ ...CALL, maxPriorityFeePerGas: '0x1' }], UNKNOWN],
    [[{ ...CALL, ...FEES, maxFeePerGas: '0x1' }], UNKNOWN],
  ],
  eth_sendTransaction: [
    [[], '-32602 missing value for required argument 1'],
    [[CALL], UNKNOWN],
    [[{ ...CALL, ...FEES }], UNKNOWN],
    [[{ to: NOBODY }], UNKNOWN],
  ],
  eth_resend: [
    [[], '-32602 missing value for required argument 1'],
    [[CALL], UNKNOWN],
    [[{ ...CALL, nonce: '0x0' }, '0x1'], UNKNOWN],
  ],
}

const checkSigning: Check = async (at, { key }) => {
  for (const method of [key, key.replace('eth_', 'native_')])
    for (const endpoint of at.endpoints)
      for (const [params, refusal] of SIGNING[key] ?? []) {
        // Typed data is signed under one name only.
        const isServed = endpoint.serves(method) && !method.startsWith('native_signTyped')
        await expectOutcome(endpoint, method, params, isServed ? refusal : notServed(method))
      }
  for (const { operator, name } of at.networks)
    if (operator && name !== 'devnet') {
      const [params = []] = (SIGNING[key] ?? []).find(([, refusal]) => refusal === UNKNOWN) ?? []
      // The operator's call of eth_resend names a transaction that the pool does not hold any more.
      const expected = key === 'eth_resend' ? /^-32000 missing transaction nonce/ : /^result "0x[0-9a-f]{64,}"$/
      await expectOutcome(operator, key, params, expected)
      const [other = []] = (SIGNING[key] ?? []).slice(-1).map(([last]) => last)
      if (key.startsWith('eth_sign') && key !== 'eth_signTransaction')
        await expectOutcome(operator, key, other, UNKNOWN)
    }
}

const checkAccounts: Check = async at => {
  await onAll(at, 'eth_accounts', endpoint => expectOutcome(endpoint, 'eth_accounts', [], 'result []'))
  for (const { operator, name } of at.networks)
    if (operator && name !== 'devnet') await expectOutcome(operator, 'eth_accounts', [], `result ["${HELD}"]`)
}

const sends =
  (make: (network: TestNetwork) => string, expected: string): Check =>
  at =>
    onAll(at, 'eth_sendRawTransaction', endpoint =>
      expectOutcome(endpoint, 'eth_sendRawTransaction', [make(at.of(endpoint.network))], expected),
    )

const ERROR_ROWS: SectionChecks = {
  '-32601 the method <name> does not exist/is not available': async ({ endpoints }) => {
    for (const endpoint of endpoints)
      for (const method of ['eth_protocolVersion', 'eth_nothing', 'nothing', '', 'eth_', '__proto__'])
        await expectOutcome(endpoint, method, [], notServed(method))
  },
  '-32602 invalid argument <n>: hex string without 0x prefix': at =>
    onAll(at, 'eth_getStorageAt', async endpoint => {
      for (const [params, position] of [
        [['12', '0x0', 'latest'], 1],
        [[PAYER, '12', 'latest'], 2],
        [[PAYER, '0x0', '12'], 3],
        [[PAYER, '0x0', 'safe'], 3],
      ] as const)
        await expectOutcome(
          endpoint,
          'eth_getStorageAt',
          params,
          `-32602 invalid argument ${position}: hex string without 0x prefix`,
        )
    }),
  '-32602 missing value for required argument <n>': at =>
    onAll(at, 'eth_getStorageAt', async endpoint => {
      for (const count of [0, 1, 2])
        await expectOutcome(
          endpoint,
          'eth_getStorageAt',
          [PAYER, '0x0'].slice(0, count),
          `-32602 missing value for required argument ${count + 1}`,
        )
    }),
  '-32000 unknown account': at =>
    onAll(at, 'eth_sign', endpoint => expectOutcome(endpoint, 'eth_sign', [HELD, '0x'], UNKNOWN)),
  '-32000 missing gasPrice or maxFeePerGas/maxPriorityFeePerGas': at =>
    onAll(at, 'eth_signTransaction', endpoint => expectOutcome(endpoint, 'eth_signTransaction', [CALL], MISSING_FEES)),
  '-32000 nonce too low': sends(({ sign }) => sign({ nonce: 0, value: 2n }), '-32000 nonce too low'),
  '-32000 insufficient funds for gas * price + value': sends(
    ({ sign }) => sign({ nonce: 900, value: 10n ** 30n }),
    '-32000 insufficient funds for gas * price + value',
  ),
  '-32000 already known': sends(({ waitingRaw }) => waitingRaw, '-32000 already known'),
  '-32000 err: insufficient balance for transfer': at =>
    onAll(at, 'eth_estimateGas', async endpoint => {
      const call = { from: NOBODY, to: PAYER, value: `0x${(10n ** 30n).toString(16)}` }
      await expectOutcome(endpoint, 'eth_estimateGas', [call], '-32000 err: insufficient balance for transfer')
    }),
  '-32075 Method disabled': async at => {
    for (const endpoint of at.endpoints) {
      const outcome = outcomeOf(await endpoint.ask(DISABLED))
      if (endpoint.network === 'devnet') expect(outcome).toBe('-32075 Method disabled')
      else expect(outcome).toMatch(/^result "0x/)
    }
    for (const method of ['eth_newPendingTransactionFilter', 'native_newPendingTransactionFilter'])
      await expectOutcome(at.of('devnet').ws, method, [1, 2, 3], '-32075 Method disabled')
    const { operator } = at.of('devnet')
    if (operator) await expectOutcome(operator, DISABLED, [], /^result "0x/)
  },
}

export const ERROR_CHECKS: Readonly<Record<string, SectionChecks>> = {
  Errors: ERROR_ROWS,
  Authentication: { eth_accounts: checkAccounts, '*': checkSigning },
}
