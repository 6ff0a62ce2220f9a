import type { Hex } from '@tandem/base/bytes.ts'
import { addressOfKeyFile } from '../shared/keys/read-key.ts'

/** Returns the address of a validator given by address or by key file. */
export const validatorAddress = (key: string): Hex => (isAddress(key) ? key : addressOfKeyFile(key, '--validator'))

const isAddress = (key: string): key is Hex => /^0x[0-9a-f]{40}$/.test(key)
