import { argon2Sync } from 'node:crypto'
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js'
import { hashRawSync } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { ARGON2_PROVIDERS } from '../../../src/crypto/argon2.ts'

/*
 * RFC 9106, section 5.3. Its secret and associated data are no part of the provider interface, since a header has neither. So the test
 * calls the functions behind the providers: node:crypto and noble, which is no provider, take both inputs and give the answer of the RFC; the
 * addon takes no associated data and gives what those two give without it. The providers then hash the rest of the vector.
 */
const message = Buffer.alloc(32, 1)
const salt = Buffer.alloc(16, 2)
const secret = Buffer.alloc(8, 3)
const associatedData = Buffer.alloc(12, 4)
const [memory, passes, lanes, bytes] = [32, 3, 4, 32]
const TAG = '0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659'

interface Extra {
  readonly secret?: Buffer
  readonly associatedData?: Buffer
}

const byNode = (extra: Extra): string =>
  argon2Sync('argon2id', {
    message,
    nonce: salt,
    parallelism: lanes,
    tagLength: bytes,
    memory,
    passes,
    ...extra,
  }).toString('hex')

const byNoble = ({ secret: key, associatedData: personalization }: Extra): string => {
  const extra = { ...(key && { key }), ...(personalization && { personalization }) }
  return Buffer.from(nobleArgon2id(message, salt, { t: passes, m: memory, p: lanes, dkLen: bytes, ...extra })).toString(
    'hex',
  )
}

test('the libraries that take all inputs give the tag of the RFC', () => {
  expect(byNode({ secret, associatedData })).toBe(TAG)
  expect(byNoble({ secret, associatedData })).toBe(TAG)
})

test('with the secret alone all three give the same', () => {
  const expected = byNode({ secret })
  expect(byNoble({ secret })).toBe(expected)
  const cost = { memoryCost: memory, timeCost: passes, parallelism: lanes, outputLen: bytes }
  // Argon2id, version 0x13.
  expect(hashRawSync(message, { salt, secret, algorithm: 2, version: 1, ...cost }).toString('hex')).toBe(expected)
})

test('without both every provider gives the same', async () => {
  const expected = byNode({})
  for (const provider of await Promise.all(ARGON2_PROVIDERS.map(load => load()))) {
    const hash = await provider.hash(message, salt, { memoryKib: memory, passes, lanes, hashBytes: bytes })
    expect(Buffer.from(hash).toString('hex'), provider.name).toBe(expected)
  }
})
