import { describe, expect, test } from 'vitest'
import {
  type SigningRecord,
  signingRecordFromJson,
  signingRecordToJson,
} from '../../../../src/primitives/consensus/signing-record.ts'

const RECORD: SigningRecord = {
  genesisHash: `0x${'ab'.repeat(32)}`,
  signers: [
    {
      validator: `0x${'11'.repeat(20)}`,
      signed: [
        { number: 12, round: 0, step: 'commit', digest: `0x${'cd'.repeat(32)}`, signature: `0x${'ef'.repeat(65)}` },
        { number: 2 ** 53 - 1, round: 3, step: 'roundChange', digest: `0x${'01'.repeat(32)}`, signature: null },
      ],
    },
    { validator: `0x${'22'.repeat(20)}`, signed: [] },
  ],
}

test('what is written is read again', () => {
  expect(signingRecordFromJson(signingRecordToJson(RECORD))).toEqual(RECORD)
})

test('it is the JSON of docs/keys.md', () => {
  expect(JSON.parse(signingRecordToJson(RECORD))).toEqual({
    metadata: { format: 'tandem-signing/1', genesisHash: RECORD.genesisHash },
    data: [
      {
        validator: `0x${'11'.repeat(20)}`,
        signed: [
          {
            number: '12',
            round: '0',
            step: 'commit',
            digest: `0x${'cd'.repeat(32)}`,
            signature: `0x${'ef'.repeat(65)}`,
          },
          { number: '9007199254740991', round: '3', step: 'roundChange', digest: `0x${'01'.repeat(32)}` },
        ],
      },
      { validator: `0x${'22'.repeat(20)}`, signed: [] },
    ],
  })
})

describe('a file is refused by name', () => {
  type Json = { metadata: Record<string, unknown>; data: { validator: unknown; signed: Record<string, unknown>[] }[] }
  const changed = (change: (json: Json) => void): string => {
    const json = JSON.parse(signingRecordToJson(RECORD)) as Json
    change(json)
    return JSON.stringify(json)
  }
  const position = (member: string, value: unknown) =>
    changed(json => {
      const first = json.data[0]?.signed[0]
      if (first) first[member] = value
    })

  test.each<[string, string, RegExp]>([
    ['nothing', '', /^not JSON/],
    ['half of one', signingRecordToJson(RECORD).slice(0, 100), /^not JSON/],
    ['a list', '[]', /^the file is no object/],
    ['no metadata', '{}', /^metadata is no object/],
    ['another format', changed(json => (json.metadata['format'] = 'tandem-signing/2')), /^metadata.format is not/],
    [
      'no genesis',
      changed(json => delete json.metadata['genesisHash']),
      /^metadata.genesisHash is no hex string of 32/,
    ],
    ['no data', changed(json => Object.assign(json, { data: {} })), /^data is no list/],
    [
      'too many validators',
      changed(json => (json.data = Array(257).fill(json.data[1]))),
      /^data is no list of at most/,
    ],
    [
      'a short address',
      changed(json => Object.assign(json.data[0] ?? {}, { validator: '0x11' })),
      /^data\[0\].validator/,
    ],
    ['a number that is none', position('number', 12), /^data\[0\].signed\[0\].number is no whole number/],
    ['a number beyond doubles', position('number', '9007199254740992'), /number is no whole number/],
    ['a negative round', position('round', '-1'), /round is no whole number/],
    ['another step', position('step', 'vote'), /step is none of/],
    ['a step of the prototype', position('step', 'toString'), /step is none of/],
    ['a short digest', position('digest', '0x00'), /digest is no hex string of 32 bytes/],
    ['a signature without its recovery id', position('signature', `0x${'00'.repeat(64)}`), /signature is no hex/],
  ])('%s', (_, text, reason) => {
    let found: unknown
    try {
      signingRecordFromJson(text)
    } catch (error) {
      found = (error as { detail: unknown }).detail
    }
    expect(found).toEqual({ code: 'SIGNING_RECORD_INVALID', reason: expect.stringMatching(reason) })
  })
})
