import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { type DecidedBlock, type NetworkPort, nullNetwork } from '../../../../src/consensus/ports.ts'
import { LocalValidator } from '../../../../src/consensus/signer/local-validator.ts'
import { memoryWatermark } from '../../../../src/consensus/wal/memory-wal.ts'
import { signerOf } from '../../../../src/node/parts/consensus/consensus.ts'
import { type Certificate, certificateFromSigners } from '../../../../src/primitives/consensus/certificate.ts'
import { EXTRA_DATA_VERSION, encodeExtraData } from '../../../../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH } from '../../../../src/primitives/header.ts'
import { keyOf } from '../../../support/chain.ts'
import { ManualClock } from '../../../support/consensus/manual-clock.ts'

const signer = signerOf(keyOf(1))
const committee = { members: [signer.address, signerOf(keyOf(2)).address] }
const headerOf = (number: number, timestamp: number, parentCertificate: Certificate | null = null) => ({
  ...{ number, timestamp, parentHash: ZERO_HASH },
  extraData: encodeExtraData({
    ...{ version: EXTRA_DATA_VERSION, vanity: new Uint8Array(0), proposer: signer.address, parentCertificate },
    ...{ proofTip: ZERO_HASH, proofHeadersHash: EMPTY_LIST_HASH, evidenceRoot: EMPTY_LIST_HASH },
  }),
})
/** A block that both members sealed. */
const sealed = (number: number, timestamp = 0): DecidedBlock => {
  const block = { hash: ZERO_HASH, header: headerOf(number, timestamp) } as unknown as DecidedBlock['block']
  const seal = new Uint8Array(65)
  return {
    block,
    certificate: certificateFromSigners(
      0,
      2,
      new Map([
        [0, seal],
        [1, seal],
      ]),
    ),
  }
}

/** A validator whose folder is empty. */
const begin = (trustMissingLog: boolean, isNew = true, network: NetworkPort = nullNetwork) => {
  let lost = 0
  const validator = new LocalValidator(
    {
      signer,
      watermark: memoryWatermark(),
      params: { chainId: 7, genesisHash: ZERO_HASH },
      logger: silentLogger,
      clock: new ManualClock(),
      ports: { network, committee: { committee: () => committee } },
      trustMissingLog,
    },
    () => lost++,
  )
  const head = { number: 0, hash: ZERO_HASH, timestamp: 0, certificate: null }
  validator.restore({ isNew, own: [], head, records: [], quarantine: null })
  return { validator, lost: () => lost }
}

test('seals of a key without a log silence it, unless the operator trusts that nothing of it is under way', () => {
  const careful = begin(false)
  careful.validator.decided(sealed(1), committee, true)
  expect([careful.validator.isQuarantined, careful.lost()]).toEqual([true, 1])
  const trusting = begin(true)
  for (const number of [1, 2, 3]) trusting.validator.decided(sealed(number), committee, true)
  expect([trusting.validator.isQuarantined, trusting.lost()]).toEqual([false, 0])
})

test('a seal that only the next header has silences a new key as well, but not one that made it', () => {
  const { certificate } = sealed(1)
  const { hash } = sealed(2).block
  const header = headerOf(2, 0, certificate)
  const others = certificateFromSigners(0, 2, new Map([[1, certificate.seals[1] as Uint8Array]]))
  const second = { block: { hash, header } as unknown as DecidedBlock['block'], certificate: others }
  const careful = begin(false)
  careful.validator.decided({ ...sealed(1), certificate: others }, committee, true)
  expect(careful.validator.isQuarantined).toBe(false)
  careful.validator.decided(second, committee, true)
  expect([careful.validator.isQuarantined, careful.lost()]).toEqual([true, 1])
  const own = begin(false)
  own.validator.sign({ type: 'commit', number: 1, round: 0, blockHash: ZERO_HASH }, 0)
  own.validator.decided({ ...sealed(1), certificate: others }, committee, true)
  own.validator.decided(second, committee, true)
  expect([own.validator.isQuarantined, own.lost()]).toEqual([false, 0])
})

test('a key that was silenced at an earlier start and is trusted at this one begins anew, whatever it has still to fetch', () => {
  const { validator } = begin(true, false)
  expect(() => validator.decided(sealed(1), committee, true)).toThrow('KEY_IN_USE')
  validator.trustLostLog()
  for (const number of [1, 2, 3]) validator.decided(sealed(number), committee, true)
  expect(validator.isQuarantined).toBe(false)
})

test('a trusted key that took part in a decision has no second user', () => {
  const { validator } = begin(true)
  validator.decided(sealed(1), committee, true)
  const { block, certificate } = sealed(2)
  const others = certificateFromSigners(0, 2, new Map([[1, certificate.seals[1] as Uint8Array]]))
  validator.decided({ block, certificate: others }, committee, false)
  expect(() => validator.decided(sealed(3), committee, true)).toThrow(
    expect.objectContaining({ detail: { code: 'KEY_IN_USE', number: 3, round: 0 } }),
  )
})

/** Neighbours that have not reported a height yet. */
const unheard: NetworkPort = { ...nullNetwork, speaker: () => undefined }

test('old decisions sent again to an empty folder are no part of its key in one, so an earlier seal silences it', () => {
  const { validator, lost } = begin(false, true, unheard)
  const { block, certificate } = sealed(1)
  const others = certificateFromSigners(0, 2, new Map([[1, certificate.seals[1] as Uint8Array]]))
  validator.decided({ block, certificate: others }, committee, false)
  validator.decided(sealed(2), committee, true)
  expect([validator.isQuarantined, lost()]).toEqual([true, 1])
})

test('on a clock that is behind, a block that a neighbour had already decided is no sign that the open height is new', () => {
  const { validator } = begin(false, true, unheard)
  const { block, certificate } = sealed(1, 10_000_000_000)
  const others = certificateFromSigners(0, 2, new Map([[1, certificate.seals[1] as Uint8Array]]))
  validator.decided({ block, certificate: others }, committee, true)
  expect(validator.maySign(committee)).toBe(false)
  validator.decided({ block, certificate: others }, committee, false)
  expect(validator.maySign(committee)).toBe(true)
})

test('seals of a silenced key lengthen its silence, those of others do not', () => {
  const { validator } = begin(false)
  const quarantine = validator.quarantine(0)
  const { block, certificate } = sealed(quarantine.upTo)
  const seal = certificate.seals[1] as Uint8Array
  validator.decided({ block, certificate: certificateFromSigners(0, 2, new Map([[1, seal]])) }, committee, false)
  expect(quarantine.upTo).toBe(2)
  validator.decided(sealed(5), committee, false)
  expect(quarantine.upTo).toBe(7)
})
