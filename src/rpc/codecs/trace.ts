import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import type { BlockOverrides, StateOverrides } from '../../evm/calls/message/call-args.ts'
import type { StructLogConfig, TraceConfig, TracerConfig } from '../../evm/tracers/config.ts'
import { serverError } from '../errors.ts'
import { type Codec, codec } from '../router/method-description.ts'
import type { JsonSchema } from '../router/raw-json.ts'
import { asObject, flagsOf, type JsonObject, member, plainMember } from './object.ts'
import { blockOverrides, stateOverrides } from './overrides.ts'
import { invalidValue, parseIndex, parseString, QUANTITY_SCHEMA } from './scalars.ts'
import { booleans } from './schemas.ts'

const TRACERS = [
  'callTracer',
  'flatCallTracer',
  'prestateTracer',
  '4byteTracer',
  'consoleTracer',
  'noopTracer',
  'muxTracer',
] as const
type TracerName = (typeof TRACERS)[number]

/** A tracer given by name is short; anything longer, or with a brace, is a program. */
const NAME = /^[\w-]{0,64}$/
const CONFIG_TYPE = 'tracers.TraceConfig'

const parseCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : invalidValue('not a count')

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/
const DURATION_PART = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/
const DURATION_CHARS = 32

/** Decodes a duration in Go's notation, such as "5s", "300ms" or "1m30s"; longer ones are cut to the node's own limit. */
const parseDuration = (value: unknown): number => {
  const text = parseString(value)
  if (text.length > DURATION_CHARS || !DURATION.test(text))
    return invalidValue(`time: invalid duration ${JSON.stringify(text.slice(0, 64))}`)
  let ms = 0
  for (let rest = text; rest !== ''; ) {
    const [part = rest, count, unit] = DURATION_PART.exec(rest) ?? []
    ms += Number(count) * (UNITS_MS[unit as string] as number)
    rest = rest.slice(part.length)
  }
  return Math.min(ms, TRACE_LIMITS.maxTimeoutMs)
}

const structLogs = (object: JsonObject): StructLogConfig => ({
  name: 'structLogger',
  ...flagsOf(object, 'disableStorage', 'disableStack', 'enableMemory', 'enableReturnData'),
  limit: member(object, 'limit', parseCount) ?? 0,
})

const unknownTracer = (name: string) => {
  const known = `use one of ${TRACERS.join(', ')}`
  return NAME.test(name)
    ? serverError(`tracer ${JSON.stringify(name)} not found, ${known}`)
    : serverError(`tracers in JavaScript are not supported, ${known}`)
}

const isTracer = (name: string): name is TracerName => (TRACERS as readonly string[]).includes(name)

const parseMux = (object: JsonObject): TracerConfig => ({
  name: 'muxTracer',
  tracers: Object.entries(object).map(([name, config]) => {
    if (name === 'muxTracer') throw serverError('a muxTracer holds no other muxTracer')
    return parseTracer(name, config ?? {})
  }),
})

const parseTracer = (name: string, config: unknown): TracerConfig => {
  if (!isTracer(name)) throw unknownTracer(name)
  const object = asObject(config, `${name}Config`)
  switch (name) {
    case 'callTracer':
      return { name, ...flagsOf(object, 'onlyTopCall', 'withLog') }
    case 'flatCallTracer':
      return { name, ...flagsOf(object, 'convertParityErrors', 'includePrecompiles') }
    case 'prestateTracer':
      return { name, ...flagsOf(object, 'diffMode', 'disableCode', 'disableStorage', 'includeEmpty') }
    case 'muxTracer':
      return parseMux(object)
    default:
      return { name }
  }
}

/** Ignores the members that have no meaning here (`reexec`, `debug`), as geth does. */
const parseConfig = (value: unknown): TraceConfig => {
  const object = asObject(value, CONFIG_TYPE)
  const name = member(object, 'tracer', parseString) ?? ''
  return {
    tracer: name === '' ? structLogs(object) : parseTracer(name, object['tracerConfig'] ?? {}),
    timeoutMs: member(object, 'timeout', parseDuration) ?? TRACE_LIMITS.timeoutMs,
  }
}

export const DEFAULT_TRACE: TraceConfig = parseConfig({})

const CONFIG_MEMBERS: Readonly<Record<string, JsonSchema>> = {
  tracer: { enum: ['', ...TRACERS] },
  tracerConfig: { type: 'object' },
  timeout: { type: 'string', pattern: DURATION.source },
  ...booleans('disableStorage', 'disableStack', 'enableMemory', 'enableReturnData'),
  limit: { type: 'integer', minimum: 0 },
}

/** TraceConfig of geth. */
export const traceConfig: Codec<TraceConfig> = codec(
  'options',
  { type: 'object', properties: CONFIG_MEMBERS },
  parseConfig,
)

interface TraceCallConfig extends TraceConfig {
  readonly overrides: StateOverrides | undefined
  readonly blockOverrides: BlockOverrides | undefined
  /** Number of the block's transactions executed before the call; undefined: all of them. */
  readonly after: number | undefined
}

/** TraceCallConfig of geth: TraceConfig with state and block overrides, and a position in the block. */
export const traceCallConfig: Codec<TraceCallConfig> = codec(
  'options',
  {
    type: 'object',
    properties: {
      ...CONFIG_MEMBERS,
      stateOverrides: stateOverrides.schema,
      blockOverrides: blockOverrides.schema,
      txIndex: QUANTITY_SCHEMA,
    },
  },
  value => {
    const object = asObject(value, 'tracers.TraceCallConfig')
    return {
      ...parseConfig(value),
      overrides: plainMember(object, 'stateOverrides', inner => stateOverrides.parse(inner)),
      blockOverrides: plainMember(object, 'blockOverrides', inner => blockOverrides.parse(inner)),
      after: member(object, 'txIndex', parseIndex),
    }
  },
)

export const DEFAULT_TRACE_CALL: TraceCallConfig = traceCallConfig.parse({})
