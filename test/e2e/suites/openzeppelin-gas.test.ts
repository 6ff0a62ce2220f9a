import { generateKeyPairSync, sign } from 'node:crypto'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { sha256 } from 'ethers'
import { expect, test } from 'vitest'
import { compileSuite } from './artifact.ts'
import { read, startEthersChain } from './ethers-chain.ts'

/** Verification of a signature of 4,096 bits, whose exponent is as long as its modulus: 63 M gas on Ethereum, twice that here. */
const verification = () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 4_096 })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const message = Buffer.from('text')
  const exponent = Buffer.from(e, 'base64url')
  const padded = Buffer.concat([Buffer.alloc(512 - exponent.byteLength), exponent])
  return {
    digest: sha256(message),
    signature: bytesToHex(sign('sha256', message, privateKey)),
    exponent: bytesToHex(padded),
    modulus: bytesToHex(Buffer.from(n, 'base64url')),
  }
}

test.each([
  ['--ethereum', true],
  ['its own prices', false],
])("a call of 63 M gas at Ethereum's prices, on a devnet with %s", async (flag, passes) => {
  const chain = await startEthersChain(flag.startsWith('--') ? [flag] : [])
  try {
    const signatures = await chain.deploy(compileSuite('OpenZeppelin.sol')('Signatures'))
    const { digest, signature, exponent, modulus } = verification()
    const verify = (part: Hex) => read(signatures, 'verify', [digest, part, exponent, modulus])
    if (passes) {
      expect(await verify(signature)).toBe(true)
      expect(await verify(`0x00${signature.slice(4)}`)).toBe(false)
    } else await expect(verify(signature)).rejects.toMatchObject({ code: 'CALL_EXCEPTION' })
  } finally {
    await chain.stop()
  }
})
