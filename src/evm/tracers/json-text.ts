import { asBuffer } from '@tandem/base/bytes.ts'

/** JSON string literals: hex needs no escaping. */
export const quantityJson = (value: bigint | number): string => `"0x${value.toString(16)}"`
export const dataJson = (bytes: Uint8Array): string => `"0x${asBuffer(bytes).hexSlice(0, bytes.byteLength)}"`

/** String literal; undefined stays. */
export const quotedJson = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : JSON.stringify(text)

/** Returns an object of members that are JSON already; undefined ones are omitted. */
export const objectJson = (members: Readonly<Record<string, string | undefined>>): string => {
  let text = ''
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`
  }
  return `{${text}}`
}
