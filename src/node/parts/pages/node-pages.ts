import type { WebResponse } from '@tandem/web/response.ts'
import type { NodePages } from '../../../rpc/transport/http/routes.ts'
import type { NodePageOptions, NodePageRequest } from './node-page.ts'

/** Pages of the public port for browsers. Templates and assets are loaded when the first browser comes. */
export const createNodePages = (options: NodePageOptions): NodePages => {
  let front: Promise<(request: NodePageRequest) => WebResponse> | undefined
  return {
    async front(request) {
      front ??= import('./node-page.ts').then(({ createNodePage }) => createNodePage(options))
      return (await front)(request)
    },
    async asset(path, acceptEncoding) {
      const { assetResponse } = await import('@tandem/web/response.ts')
      return assetResponse(path, acceptEncoding)
    },
  }
}
