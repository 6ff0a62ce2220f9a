import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { type SidecarVersion, stripBlobSidecar } from '../../../../devtools/recorded/blob-sidecar.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { decodeRlpList, encodeRlp, type RlpItem } from '../../../../src/primitives/rlp/rlp.ts'
import { type RecordedCase, recordedCases } from '../../../conformance/recorded-cases.ts'

const exchangeOf = (name: string): RecordedCase['exchanges'][number] => {
  const [exchange] = recordedCases().find(recorded => recorded.name === name)?.exchanges ?? []
  if (exchange === undefined) throw new Error(`${name} is recorded`)
  return exchange
}
const { request, answer } = exchangeOf('eth_sendRawTransaction/send-blob-tx')
const { params } = JSON.parse(request) as { readonly params: readonly [Hex] }
const { result } = answer as { readonly result: Hex }
const handedIn = hexToBytes(params[0])
/** Transaction, version, blobs, commitments, proofs. */
const [tx, version, blobs, commitments, proofs] = decodeRlpList(handedIn.subarray(1)) as [
  RlpItem,
  Uint8Array,
  Uint8Array[],
  Uint8Array[],
  Uint8Array[],
]
const formOf = (...items: RlpItem[]): Uint8Array => concatBytes(Uint8Array.of(3), encodeRlp(items))

test('the recorded transaction comes out of its sidecar with the hash that other clients answer', () => {
  expect(keccak256Hex(stripBlobSidecar(handedIn, 1))).toBe(result)
})

test('one proof for each blob is the form before Osaka', () => {
  const raw = stripBlobSidecar(handedIn, 1)
  expect(stripBlobSidecar(formOf(tx, blobs, commitments, proofs.slice(0, 1)), 0)).toEqual(raw)
})

test('other transactions have no sidecar', () => {
  const dynamic = Uint8Array.of(2, 0xc0)
  expect(stripBlobSidecar(dynamic, 1)).toBe(dynamic)
  expect(stripBlobSidecar(EMPTY_BYTES, 1)).toBe(EMPTY_BYTES)
})

const [blob] = blobs as [Uint8Array]
const [commitment] = commitments as [Uint8Array]
const changed = Uint8Array.from(commitment, (byte, i) => (i === 40 ? byte ^ 1 : byte))

test.each<[string, Uint8Array, SidecarVersion, RegExp]>([
  ['without one', concatBytes(Uint8Array.of(3), encodeRlp(tx)), 1, /missing sidecar/],
  ['of the form before Osaka', formOf(tx, blobs, commitments, proofs.slice(0, 1)), 1, /version 0, want 1/],
  ['of the form after Osaka', handedIn, 0, /version 1, want 0/],
  ['of a form to come', formOf(tx, Uint8Array.of(2), blobs, commitments, proofs), 1, /version 2, want 1/],
  ['with a blob too many', formOf(tx, version, [blob, blob], commitments, proofs), 1, /want 1 blobs/],
  ['without its blob', formOf(tx, version, [], commitments, proofs), 1, /want 1 blobs/],
  ['with a short blob', formOf(tx, version, [blob.subarray(1)], commitments, proofs), 1, /blobs .* have 131072 bytes/],
  ['with a long blob', formOf(tx, version, [concatBytes(blob, blob)], commitments, proofs), 1, /too long/],
  [
    'with another commitment',
    formOf(tx, version, blobs, [changed], proofs),
    1,
    /not the one that the transaction names/,
  ],
  ['with too few proofs', formOf(tx, version, blobs, commitments, proofs.slice(1)), 1, /want 128 proofs/],
  ['with more behind', formOf(tx, version, blobs, commitments, proofs, EMPTY_BYTES), 1, /too many elements/],
  ['with bytes behind', concatBytes(handedIn, Uint8Array.of(0)), 1, /more than one value/],
  ['cut short', handedIn.subarray(0, 9_000), 1, /exceeds available input/],
  ['of nothing', Uint8Array.of(3), 1, /too few elements/],
])('a sidecar %s is refused', (_, bytes, wanted, reason) => {
  expect(() => stripBlobSidecar(bytes, wanted)).toThrow(
    expect.objectContaining({ detail: { code: 'TRANSACTION_MALFORMED', reason: expect.stringMatching(reason) } }),
  )
})
