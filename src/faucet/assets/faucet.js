// Page of the faucet and worker of its proof of work: one file for both, so that the page needs no other origin and no inline script.

const ROUND = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
)
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]
const words = new Int32Array(64)

const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits))

/** Mixes one block of 16 words into the state (FIPS 180-4). */
const compress = (state, block, at) => {
  for (let i = 0; i < 16; i++) words[i] = block.getInt32(at + 4 * i)
  for (let i = 16; i < 64; i++) {
    const a = words[i - 15]
    const b = words[i - 2]
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0
  }
  let a = state[0]
  let b = state[1]
  let c = state[2]
  let d = state[3]
  let e = state[4]
  let f = state[5]
  let g = state[6]
  let h = state[7]
  for (let i = 0; i < 64; i++) {
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
  state[4] += e
  state[5] += f
  state[6] += g
  state[7] += h
}

/** Returns a function from the end of a text to the number of zero bits, at most 32, that sha256 of the text begins with. */
const zeroBitsAfter = prefix => {
  const bytes = new Uint8Array(128)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < prefix.length; i++) bytes[i] = prefix.charCodeAt(i)
  // The first block has 64 bytes of the prefix, and is the same for every end.
  const middle = Int32Array.from(START)
  compress(middle, view, 0)
  const state = new Int32Array(8)
  return end => {
    const length = prefix.length + end.length
    bytes.fill(0, prefix.length)
    for (let i = 0; i < end.length; i++) bytes[prefix.length + i] = end.charCodeAt(i)
    bytes[length] = 0x80
    view.setUint32(124, length * 8)
    state.set(middle)
    compress(state, view, 64)
    return Math.clz32(state[0])
  }
}

const work = () => {
  self.onmessage = ({ data: { challenge, address, bits } }) => {
    // 76 characters, so that the text has two blocks.
    const zeroBits = zeroBitsAfter(`${challenge}:${address}:`)
    let nonce = 0
    while (zeroBits(String(nonce)) < bits) nonce++
    self.postMessage(String(nonce))
  }
}

const solve = (script, puzzle, address) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(script)
    worker.onmessage = ({ data }) => {
      worker.terminate()
      resolve(data)
    }
    worker.onerror = () => {
      worker.terminate()
      reject(new Error('the worker failed'))
    }
    worker.postMessage({ challenge: puzzle.challenge, address: address.toLowerCase(), bits: puzzle.bits })
  })

const page = () => {
  const form = document.querySelector('form[data-faucet]')
  if (form === null) return
  const status = document.getElementById('faucet-status')
  const button = form.querySelector('button')
  form.addEventListener('submit', async event => {
    event.preventDefault()
    button.disabled = true
    try {
      const answer = await fetch(form.getAttribute('action'), { headers: { accept: 'application/json' } })
      const { work: puzzle } = await answer.json()
      // A wrong address is answered without work.
      if (puzzle.bits > 0 && /^0x[0-9a-f]{40}$/i.test(form.elements.address.value)) {
        status.textContent = 'Your browser is working on a small proof of work, which takes a few seconds.'
        form.elements.nonce.value = await solve(form.dataset.faucet, puzzle, form.elements.address.value)
        form.elements.challenge.value = puzzle.challenge
        form.elements.at.value = String(puzzle.atMs)
      }
      status.textContent = 'Sending.'
    } catch {
      // The form is sent without a proof of work, for which stricter limits hold.
    }
    form.submit()
  })
  // Back from the next page, the button would still be disabled.
  addEventListener('pageshow', () => {
    button.disabled = false
    status.textContent = ''
  })
}

if (typeof document === 'undefined') work()
else page()
