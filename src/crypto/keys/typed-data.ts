import { CodedError } from '@tandem/base/errors.ts'
import { TYPED_DATA_LIMITS } from '../../config/limits/keys.ts'

/** Typed structured data (EIP-712) in its JSON form. */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly TypedField[]>>
  readonly primaryType: string
  readonly domain: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

export interface TypedField {
  readonly name: string
  readonly type: string
}

export type TypedDataError = { readonly code: 'TYPED_DATA_MALFORMED'; readonly reason: string }

const malformed = (reason: string) => new CodedError<TypedDataError>({ code: 'TYPED_DATA_MALFORMED', reason })

/** Returns 65 bytes r || s || v with v 27 or 28; equal data always gets the same signature. Throws TYPED_DATA_MALFORMED. */
export const signTypedData = async (data: TypedData, privateKey: Uint8Array): Promise<Uint8Array> => {
  if (Object.keys(data.types).length > TYPED_DATA_LIMITS.types)
    throw malformed(`more than ${TYPED_DATA_LIMITS.types} types`)
  // Loaded at the first use: no other part of a node needs it.
  const { signTyped } = await import('micro-eth-signer')
  try {
    const { types, primaryType, domain } = data
    const message = named(types, primaryType, data.message, 0) as Readonly<Record<string, unknown>>
    const signature = signTyped({ types, primaryType, domain, message } as never, privateKey, false)
    return Buffer.from(signature.slice(2), 'hex')
  } catch (error) {
    throw malformed(error instanceof Error ? error.message.slice(0, REASON_LENGTH) : 'not typed data')
  }
}

const REASON_LENGTH = 200

/** Returns the type of an array's items; the type itself when it is not an array. */
const itemType = (type: string): string => {
  const open = type.lastIndexOf('[')
  return open !== -1 && /^\[\d*\]$/.test(type.slice(open)) ? type.slice(0, open) : type
}

/** Removes members not named by the type, as other signers do; a struct that is null counts as absent. */
const named = (types: TypedData['types'], type: string, value: unknown, depth: number): unknown => {
  if (depth > TYPED_DATA_LIMITS.depth) throw new Error(`nested deeper than ${TYPED_DATA_LIMITS.depth}`)
  const item = itemType(type)
  if (item !== type && Array.isArray(value)) return value.map(inner => named(types, item, inner, depth + 1))
  if (!Object.hasOwn(types, type)) return value
  if (value === null) return undefined
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    (types[type] ?? []).flatMap(field =>
      Object.hasOwn(value, field.name)
        ? [[field.name, named(types, field.type, Reflect.get(value, field.name), depth + 1)]]
        : [],
    ),
  )
}
