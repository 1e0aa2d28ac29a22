// The codecs that kafkajs leaves to its users: lz4 and snappy in JavaScript, zstd with Node's own.
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import lz4 from 'lz4js'
import xxh32 from 'lz4js/xxh32.js'
import snappy from 'kafkajs-snappy'

const zstd = { compress: promisify(zlib.zstdCompress), decompress: promisify(zlib.zstdDecompress) }

// lz4js says that its blocks build on each other, which Kafka refuses; a batch is less than one block of it, so they do not.
const FLAGS = 4
const BLOCKS_ARE_INDEPENDENT = 0x20

function compressLz4(bytes) {
  const frame = Buffer.from(lz4.compress(bytes))
  frame[FLAGS] |= BLOCKS_ARE_INDEPENDENT
  frame[FLAGS + 2] = xxh32.hash(0, frame, FLAGS, 2) >> 8
  return frame
}

// Larger than any batch here. By itself lz4js takes as much as a block may hold, 4 MiB, for each batch.
const room = Buffer.alloc(4 << 20)

function decompressLz4(frame) {
  const size = lz4.decompressFrame(frame, room)
  return Buffer.from(room.subarray(0, size))
}

export function addCodecs({ CompressionCodecs, CompressionTypes }) {
  CompressionCodecs[CompressionTypes.Snappy] = snappy
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: async encoder => compressLz4(encoder.buffer),
    decompress: async buffer => decompressLz4(buffer),
  })
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: encoder => zstd.compress(encoder.buffer),
    decompress: buffer => zstd.decompress(buffer),
  })
}
