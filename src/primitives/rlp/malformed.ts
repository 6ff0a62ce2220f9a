import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { CodedError } from '@tandem/base/errors.ts'

/** Bytes from outside that are not the canonical encoding of a type; `code` names the type, `reason` is for people. */
export type MalformedError<Code extends string> = { readonly code: Code; readonly reason: string }

export const malformed = <Code extends string>(
  code: Code,
  reason: string,
  options?: ErrorOptions,
): CodedError<MalformedError<Code>> => new CodedError({ code, reason }, options)

const hasReason = (detail: { readonly code: string }): detail is MalformedError<string> =>
  'reason' in detail && typeof detail.reason === 'string'

/** Runs a decoder and gives its errors the code of the decoded type. */
export const decodeOrMalformed = <Code extends string, Value>(code: Code, decode: () => Value): Value => {
  try {
    return decode()
  } catch (error) {
    if (error instanceof CodedError && error.code !== code && hasReason(error.detail)) {
      throw malformed(code, error.detail.reason, { cause: error })
    }
    throw error
  }
}

/** Runs a decoder that works in parts; its errors become those of the code, as in `decodeOrMalformed`. */
export function* decodePartsOrMalformed<Code extends string, Value>(
  code: Code,
  decoding: SlicedWork<Value>,
): SlicedWork<Value> {
  for (;;) {
    const part = decodeOrMalformed(code, () => decoding.next())
    if (part.done === true) return part.value
    yield
  }
}
