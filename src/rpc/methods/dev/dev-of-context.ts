import { assert } from '@tandem/base/assert.ts'
import type { DevPort } from '../../ports.ts'
import type { Context } from '../../router/context.ts'

/** Returns the helpers of a development chain. */
export const devFromContext = ({ dev }: Context): DevPort => {
  assert(dev !== undefined, 'a method is served only where its part exists')
  return dev
}
