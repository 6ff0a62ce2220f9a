import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METHODS } from '../../../src/rpc/methods/methods.ts'
import type { JsonSchema } from '../../../src/rpc/router/raw-json.ts'
import type { Rig } from '../../support/rpc/rig.ts'
import { startSample } from '../../support/rpc/sample.ts'
import { argumentsFor } from './arguments.ts'

/** Parts of a JSON Schema that leave open what stands there, each as a path: `.member`, `[]`, `.*`. */
const looseParts = (schema: JsonSchema, path = ''): readonly string[] => {
  const { anyOf, type, items, prefixItems, maxItems, properties, additionalProperties } = schema as {
    readonly anyOf?: readonly JsonSchema[]
    readonly type?: string
    readonly items?: JsonSchema | false
    readonly prefixItems?: readonly JsonSchema[]
    readonly maxItems?: number
    readonly properties?: Readonly<Record<string, JsonSchema>>
    readonly additionalProperties?: JsonSchema | boolean
  }
  if (anyOf !== undefined) return isAnySchema(anyOf) ? [] : anyOf.flatMap(part => looseParts(part, path))
  if ('enum' in schema || 'const' in schema) return []
  switch (type) {
    case 'array':
      if (maxItems === 0) return []
      return [
        ...(prefixItems ?? []).flatMap(part => looseParts(part, `${path}[]`)),
        ...(items === false ? [] : items === undefined ? [`${path}[]`] : looseParts(items, `${path}[]`)),
      ]
    case 'object': {
      const members = Object.entries(properties ?? {}).flatMap(([name, part]) => looseParts(part, `${path}.${name}`))
      if (additionalProperties === false) return members
      if (typeof additionalProperties !== 'object') return [...members, `${path}.*`]
      return [...members, ...looseParts(additionalProperties, `${path}.*`)]
    }
    default:
      return type === undefined ? [path] : []
  }
}

/** A JSON Schema as a value, which may be anything: an object or a boolean. */
const isAnySchema = ([object, boolean]: readonly JsonSchema[]): boolean =>
  object?.['type'] === 'object' && object['properties'] === undefined && boolean?.['type'] === 'boolean'

const ajv = new Ajv2020({ strict: false, allErrors: true })
let rig: Rig
beforeAll(async () => {
  rig = await startSample()
})
afterAll(() => rig.stop())

/** These want an id that another method makes. */
const FILTERS = /_(getFilterChanges|getFilterLogs|uninstallFilter)$/

/** Their answers depend on the tracer that is asked for. */
const TRACES = /^debug_trace/

describe('every method answers what it declares', () => {
  test.each(Object.entries(METHODS).filter(([name, method]) => !method.socketOnly && !FILTERS.test(name)))(
    '%s',
    async (name, method) => {
      const result = await rig.result(name, argumentsFor(name, rig))
      const check = ajv.compile(method.result)
      check(result)
      expect(check.errors ?? []).toEqual([])
    },
  )

  test.each(['eth', 'native'])('filters of %s', async namespace => {
    for (const [make, result] of [
      ['newFilter', { fromBlock: '0x0' }],
      ['newBlockFilter', undefined],
      ['newPendingTransactionFilter', undefined],
    ] as const) {
      const id = await rig.result(`${namespace}_${make}`, result === undefined ? [] : [result])
      rig.chain.append()
      for (const ask of ['getFilterChanges', ...(make === 'newFilter' ? ['getFilterLogs'] : []), 'uninstallFilter']) {
        const name = `${namespace}_${ask}`
        const check = ajv.compile(METHODS[name]?.result ?? false)
        expect(check(await rig.result(name, [id]))).toBe(true)
      }
    }
  })

  test('declares arguments that fit their own schemas', () => {
    for (const [name, method] of Object.entries(METHODS))
      argumentsFor(name, rig).forEach((argument, i) => {
        const check = ajv.compile(method.params[i]?.schema ?? false)
        expect(check(argument) || `${name} argument ${i + 1}: ${JSON.stringify(check.errors)}`).toBe(true)
      })
  })

  test('says of every part of every answer what it is', () => {
    const loose = Object.entries(METHODS).flatMap(([name, { result }]) =>
      TRACES.test(name) ? [] : looseParts(result).map(part => `${name}${part}`),
    )
    expect(loose).toEqual([])
  })

  test('describes itself as an OpenRPC document', async () => {
    const document = await rig.result<{
      openrpc: string
      methods: { name: string; params: { required: boolean }[] }[]
    }>('rpc.discover')
    expect(document.openrpc).toMatch(/^1\.3/)
    expect(document.methods.map(({ name }) => name).sort()).toEqual(Object.keys(METHODS).sort())
    for (const { params } of document.methods) {
      const required = params.map(param => param.required)
      expect(required).toEqual([...required].sort((a, b) => Number(b) - Number(a)))
    }
  })
})
