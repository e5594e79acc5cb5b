/* The kernels that are measured, translated from CUDA line by line: loops over blocks and threads outside, split at
   barriers, tiles kept; a shuffle is a loop over the threads of a warp. Compiled with -O3 -march=native
   -ffp-contract=off. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define T 16
void sgemm(const float *A, const float *B, float *C, int n, float alpha) {
    for (int by = 0; by < n / T; by++)
        for (int bx = 0; bx < n / T; bx++) {
            float sa[T][T], sb[T][T + 1], acc[T][T] = {{0}};
            for (int k = 0; k < n; k += T) {
                for (int y = 0; y < T; y++)
                    for (int x = 0; x < T; x++) {
                        int r = by * T + y, c = bx * T + x;
                        sa[y][x] = A[r * n + k + x];
                        sb[y][x] = B[(k + y) * n + c];
                    }
                for (int y = 0; y < T; y++)
                    for (int x = 0; x < T; x++)
                        for (int j = 0; j < T; j++) acc[y][x] = fmaf(sa[y][j], sb[j][x], acc[y][x]);
            }
            for (int y = 0; y < T; y++)
                for (int x = 0; x < T; x++) C[(by * T + y) * n + bx * T + x] = alpha * acc[y][x];
        }
}

typedef struct { float x, y, z, w; } float4;
void nbody(const float4 *P, const float4 *V, float4 *Q, float4 *U, int n, float dt) {
    for (int block = 0; block < n / 64; block++) {
        float4 s[64];
        float ax[64] = {0}, ay[64] = {0}, az[64] = {0};
        for (int b = 0; b < n; b += 64) {
            for (int t = 0; t < 64; t++) s[t] = P[b + t];
            for (int t = 0; t < 64; t++) {
                float4 p = P[block * 64 + t];
                for (int j = 0; j < 64; j++) {
                    float4 q = s[j];
                    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
                    float r = dx * dx + dy * dy + dz * dz + 0.01f;
                    float w = 1.0f / sqrtf(r);
                    w = w * w * w * q.w;
                    ax[t] += dx * w;
                    ay[t] += dy * w;
                    az[t] += dz * w;
                }
            }
        }
        for (int t = 0; t < 64; t++) {
            int i = block * 64 + t;
            float4 p = P[i], v = V[i];
            v.x += ax[t] * dt;
            v.y += ay[t] * dt;
            v.z += az[t] * dt;
            p.x += v.x * dt;
            p.y += v.y * dt;
            p.z += v.z * dt;
            Q[i] = p;
            U[i] = v;
        }
    }
}

void mandelbrot(uint32_t *out, int w, int h, float x0, float y0, float step, int maxit) {
    for (int by = 0; by < (h + 7) / 8; by++)
        for (int bx = 0; bx < (w + 15) / 16; bx++)
            for (int ty = 0; ty < 8; ty++)
                for (int tx = 0; tx < 16; tx++) {
                    int x = bx * 16 + tx, y = by * 8 + ty;
                    if (x >= w || y >= h) continue;
                    float cr = x0 + (float)x * step, ci = y0 + (float)y * step, zr = 0, zi = 0;
                    int k = 0;
                    for (; k < maxit; k++) {
                        float a = zr * zr, b = zi * zi;
                        if (a + b > 4.0f) break;
                        zi = (zr + zr) * zi + ci;
                        zr = (a - b) + cr;
                    }
                    out[y * w + x] = k | ((k & 7) << 24);
                }
}

/* grid: blocks, which the kernel reads from a register of the GPU. */
void reduction(const uint32_t *A, const float *F, uint32_t *out, float *fo, int n, int grid) {
    for (int block = 0; block < grid; block++) {
        uint32_t s[256], v[32], o[32];
        float w[8], f[256], g[256];
        for (int t = 0; t < 256; t++) {
            uint32_t sum = 0;
            for (int i = block * 256 + t; i < n; i += grid * 256) sum += A[i];
            s[t] = sum;
        }
        for (int d = 128; d > 32; d >>= 1)
            for (int t = 0; t < d; t++) s[t] += s[t + d];
        for (int t = 0; t < 32; t++) v[t] = s[t] + s[t + 32];
        for (int d = 16; d; d >>= 1) {
            for (int t = 0; t < 32; t++) o[t] = v[t + d < 32 ? t + d : t];
            for (int t = 0; t < 32; t++) v[t] += o[t];
        }
        out[block] = v[0];
        out[grid] += v[0];
        for (int t = 0; t < 256; t++) f[t] = F[block * 256 + t];
        for (int d = 1; d < 32; d <<= 1) {
            for (int t = 0; t < 256; t++) g[t] = f[t ^ d];
            for (int t = 0; t < 256; t++) f[t] = fmaxf(f[t], g[t]);
        }
        for (int t = 0; t < 256; t++)
            if ((t & 31) == 0) w[t >> 5] = f[t];
        for (int k = 1; k < 8; k++) f[0] = fmaxf(f[0], w[k]);
        fo[block] = f[0];
    }
}

void transpose(const uint16_t *A, uint16_t *B, int w, int h) {
    for (int by = 0; by < (h + 31) / 32; by++)
        for (int bx = 0; bx < (w + 31) / 32; bx++) {
            uint16_t s[32][33];
            memset(s, 0, sizeof s);
            for (int ty = 0; ty < 8; ty++)
                for (int tx = 0; tx < 32; tx++)
                    for (int k = 0; k < 32; k += 8) {
                        int x = bx * 32 + tx, y = by * 32 + ty + k;
                        if (x < w && y < h) s[ty + k][tx] = A[y * w + x];
                    }
            for (int ty = 0; ty < 8; ty++)
                for (int tx = 0; tx < 32; tx++)
                    for (int k = 0; k < 32; k += 8) {
                        int xx = by * 32 + tx, y = bx * 32 + ty + k;
                        if (xx < h && y < w) B[y * h + xx] = s[tx][ty + k];
                    }
        }
}
