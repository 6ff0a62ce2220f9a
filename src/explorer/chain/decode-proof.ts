import { bytesToHex } from '@tandem/base/bytes.ts'
import { HASHES } from '../indexer/block-record.ts'
import type { ProofRecord } from '../store/records.ts'
import type { NodeAnswer } from './node-answer.ts'

/* Proof headers from the objects of native_getProofHeaderRange. Each read throws NODE_ANSWER_INVALID. */

export const isIncludedIn = (header: NodeAnswer, block: number): boolean => {
  const included = header.member('includedIn')
  return !included.isNull && included.integer() === block
}

export const proofFromAnswer = (header: NodeAnswer): ProofRecord => ({
  height: header.member('number').integer(),
  id: header.member('id').hex(32),
  miner: header.member('miner').hex(20),
  timestamp: header.member('timestamp').integer(),
  difficulty: HASHES / (BigInt(header.member('target').hex(32)) + 1n),
  nonce: bytesToHex(header.member('nonce').bytes()),
  algorithm: header.member('algorithm').text(),
})
