import type { ApiRoute } from './api-route.ts'
import { type ApiSchema, INTEGER, nullable, shape, TEXT } from './json-schema.ts'

export const ERROR_SHAPE = shape({
  error: shape({ code: TEXT, message: TEXT, field: nullable(TEXT), requestId: TEXT }),
})

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'A parameter is not what it must be',
  '404': 'There is no such thing',
  '429': 'Too many requests',
  '503': 'The index is not near the head of the chain yet',
}

/** OpenAPI writes a parameter of a path in braces. */
export const openApiPath = (path: string): string => path.replace(/:([a-z]+)/gi, '{$1}')

const parameters = (schemas: Readonly<Record<string, ApiSchema>> | undefined, place: 'path' | 'query'): object[] =>
  Object.entries(schemas ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path',
    ...(description && { description }),
    schema,
  }))

/** Words of the path in camel case. */
const operationId = (path: string): string => {
  const [first = '', ...others] = path
    .slice('/api/'.length)
    .split(/[^a-z]/i)
    .filter(word => word !== '')
  return first + others.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

const response = (description: string, schema: ApiSchema): object => ({
  description,
  headers: { 'x-indexed-block': { description: 'Last block of the index', schema: INTEGER } },
  content: { 'application/json': { schema } },
})

const methodOf = ({ method = 'GET' }: ApiRoute): string => method.toLowerCase()

const operation = (route: ApiRoute): object => {
  const { path, summary, params, query, body, result, status = 200 } = route
  return {
    operationId: methodOf(route) === 'get' ? operationId(path) : `${operationId(path)}Submit`,
    summary,
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: response('The answer', result),
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, text]) => [
          status,
          response(text, { $ref: '#/components/schemas/Error' }),
        ]),
      ),
    },
  }
}

/** Operations by path; a path may have several methods. */
const pathsOf = (routes: readonly ApiRoute[]): object => {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = openApiPath(route.path)
    paths[path] = { ...paths[path], [methodOf(route)]: operation(route) }
  }
  return paths
}

/** The OpenAPI 3.1 document of the routes. */
export const openApiDocument = (routes: readonly ApiRoute[], version: string): object => ({
  openapi: '3.1.0',
  info: {
    title: 'Tandem explorer',
    version,
    description: 'Indexed data of the chain. Wei and gas are decimal strings; what is absent is null.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{}, { key: [] }],
  paths: pathsOf(routes),
  components: {
    schemas: { Error: ERROR_SHAPE },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
  },
})
