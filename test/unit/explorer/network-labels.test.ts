import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { networkLabels } from '@tandem/explorer/chain/network.ts'
import { expect, test } from 'vitest'

const [ALICE, BOB, CARL] = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}`) as [Hex, Hex, Hex]
const COUNCIL = [
  { validator: ALICE, name: 'alice' },
  { validator: BOB, name: '' },
]
const VALIDATORS = [
  { address: ALICE, name: 'Validator alice' },
  { address: BOB, name: 'Validator' },
]

test('the foundation has its label unless it is a validator, or nobody', () => {
  expect(networkLabels(COUNCIL, CARL)).toEqual([...VALIDATORS, { address: CARL, name: 'Foundation' }])
  for (const foundation of [ALICE, BOB, ZERO_ADDRESS]) expect(networkLabels(COUNCIL, foundation)).toEqual(VALIDATORS)
})
