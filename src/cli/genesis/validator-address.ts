import type { Hex } from '../../util/bytes.ts'
import { addressOfKeyFile } from '../shared/read-key.ts'

/** The address that a validator was named by, or that its key file names. */
export const validatorAddress = (key: string): Hex => (isAddress(key) ? key : addressOfKeyFile(key, '--validator'))

const isAddress = (key: string): key is Hex => /^0x[0-9a-f]{40}$/.test(key)
