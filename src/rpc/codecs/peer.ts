import type { NodeAddress } from '../../network/core/dial-scheduler.ts'
import { parsePeerUrl } from '../../network/identity/peer-url.ts'
import { isCoded } from '../../util/errors.ts'
import { type Codec, codec } from './codec.ts'
import { invalidValue, parseString } from './scalars.ts'

export const PEER_URL_SCHEMA = { type: 'string', pattern: '^tandem://[0-9a-f]{64}@.+:[0-9]{1,5}$' } as const

/** URL of a peer: tandem://<node id>@<host>:<port>. */
export const peerUrlParam: Codec<NodeAddress> = codec('url', PEER_URL_SCHEMA, value => {
  const text = parseString(value)
  try {
    return parsePeerUrl(text)
  } catch (error) {
    if (!isCoded(error) || !('reason' in error.detail)) throw error
    return invalidValue(`not the address of a node: ${error.detail.reason}`)
  }
})
