import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json } from './cases.ts'

/** In what an answer is not a result of the method's own schema. */
export const misshapen = (schema: object | undefined, answer: Json): readonly string[] => {
  if (schema === undefined) return ['no such method']
  const { result } = answer as { readonly result?: Json }
  if (result === undefined) return [`no result: ${JSON.stringify(answer).slice(0, 200)}`]
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema)
  return validate(result)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
