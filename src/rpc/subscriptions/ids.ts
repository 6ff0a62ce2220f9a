import { randomBytes } from 'node:crypto'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'

/** Random id of a filter or subscription, unguessable: at most 32 digits, without leading zeros. */
export const randomId = (): Hex => {
  const hex = asBuffer(randomBytes(16)).toString('hex').replace(/^0+/, '')
  return `0x${hex === '' ? '0' : hex}`
}
