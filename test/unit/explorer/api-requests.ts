import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { API_ROUTES } from '@tandem/explorer/api/api-routes.ts'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { ACCOUNTS, VALIDATOR } from '../../support/chain.ts'
import type { ApiRig } from './api-rig.ts'

const [ALICE, BOB] = ACCOUNTS as readonly [Hex, Hex]
const NOBODY = `0x${'12'.repeat(20)}`

/** Addresses of every endpoint that answer 200. */
export const goodPaths = ({ coin, hashes }: ApiRig): Readonly<Record<string, readonly string[]>> => ({
  '/api/supply': ['/api/supply'],
  '/api/network': ['/api/network'],
  '/api/price': ['/api/price'],
  '/api/unions': ['/api/unions'],
  '/api/mining': ['/api/mining'],
  '/api/blocks': ['/api/blocks', '/api/blocks?limit=1&offset=1'],
  '/api/blocks/:number': ['/api/blocks/0', '/api/blocks/1', '/api/blocks/2'],
  '/api/transactions': ['/api/transactions', `/api/transactions?txType=token&from=${ALICE}&to=${coin}`],
  '/api/transactions/:hash': hashes.map(hash => `/api/transactions/${hash}`),
  '/api/addresses/:address': [ALICE, BOB, coin, NOBODY].map(address => `/api/addresses/${address}`),
  '/api/addresses/:address/transactions': [`/api/addresses/${ALICE}/transactions`],
  '/api/addresses/:address/transfers': [`/api/addresses/${BOB}/transfers`],
  '/api/addresses/:address/internal': [`/api/addresses/${BOB}/internal`],
  '/api/addresses/:address/rewards': [VALIDATOR, NOBODY].map(address => `/api/addresses/${address}/rewards`),
  '/api/rewards': ['/api/rewards', '/api/rewards?cycle=0', '/api/rewards?cycle=7'],
  '/api/internal-transfers': ['/api/internal-transfers'],
  '/api/top-accounts': ['/api/top-accounts'],
  '/api/contracts/:address/verify': [`/api/contracts/${coin}/verify`],
  '/api/compilers': ['/api/compilers'],
  '/api/tokens': ['/api/tokens'],
  '/api/tokens/:address': [`/api/tokens/${coin}`, `/api/tokens/${checksumAddress(coin)}?limit=1`],
  '/api/tokens/:address/transfers': [`/api/tokens/${coin}/transfers`],
  '/api/stats': ['/api/stats', '/api/stats?days=1'],
  '/api/search': ['bean', 'bob', 'e', '2', coin, ALICE, hashes[0], NOBODY, '%25', "';--"].map(
    q => `/api/search?q=${q}`,
  ),
})

/** Number of requests of an attack; the long form has 100,000. */
const ATTACKS = Number(process.env['EXPLORER_REQUESTS'] ?? 2_000)

/** Time for them. */
export const ATTACK_TIMEOUT = 120_000 + 20 * ATTACKS

interface HostileRequest {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly url: string
}

/** Requests with SQL, paths, numbers and characters where they are not expected. */
export function* hostileRequests(seed: number, coin: Hex): Generator<HostileRequest> {
  const random = createRandom(seed)
  const pieces = [
    "' OR 1=1 --",
    '%27%3B+DROP+TABLE+tx',
    '../../etc/passwd',
    '%2e%2e%2f',
    '%00',
    '%ff',
    '\u202e',
    '\u{1F600}',
    '💥',
    '-1',
    '1e309',
    'NaN',
    '99999999999999999999',
    '0x',
    coin,
    ALICE,
    '%',
    '_',
    '"',
    '\\',
    '{}',
    '[]',
    'null',
    ' ',
    '%C0%80',
    '%ED%A0%80',
  ]
  const names = [
    'limit',
    'offset',
    'cursor',
    'txType',
    'from',
    'to',
    'q',
    'days',
    '__proto__',
    'module',
    'action',
    'address',
    'tag',
    'page',
    'apikey',
  ]
  const paths = [...API_ROUTES.map(({ path }) => path), '/api', '/api/openapi.json', '/api/../x']
  for (let i = 0; i < ATTACKS; i++) {
    const path = random.pick(paths).replace(/:[a-z]+/g, () => encodeURIComponent(random.pick(pieces)))
    const query = Array.from(
      { length: random.below(4) },
      () =>
        `${random.pick(names)}=${random.chance(0.5) ? random.pick(pieces) : encodeURIComponent(random.pick(pieces))}`,
    )
    const url = `${path}?${query.join('&')}`
    yield { method: random.pick(['GET', 'GET', 'POST', 'HEAD'] as const), url }
  }
}
