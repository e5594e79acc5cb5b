// A scalar software rasteriser of our own, built the way emulators build theirs: one pixel at a time, and whatever the
// guest can set is data that every pixel reads. pixels.py compares its speed with ours. It computes what our fragment
// pipeline computes, in the same order, so that the two pictures can be compared byte by byte.
//
// Layouts are the GPU's own: 8x8 tiles, inside them x and y bits alternate; colours are 0xRRGGBBAA, depth is 24 bits
// below 8 bits of stencil. Rows count from the bottom.

#include <algorithm>
#include <cmath>
#include <cstdint>

using std::max;
using std::min;

namespace {

enum { RGBA = 4, STAGES = 6, SOURCES = 16 };
enum { PRIMARY = 0, TEXTURE0 = 3, CONSTANT = 14, PREVIOUS = 15 };

struct Vertex {
    float x, y, depth, inverse_w;
    float attributes[6];  // r g b a u v
};

struct Stage {
    int32_t op[2];  // colour, alpha
    int32_t source[2][3];
    int32_t operand[2][3];
    int32_t constant[RGBA];
};

struct State {
    int32_t width, height;
    int32_t depth_test, depth_function, depth_write;
    float depth_scale, depth_offset;
    int32_t alpha_test, alpha_function, alpha_reference;
    int32_t blend, equation[2], source_factor[2], target_factor[2];
    int32_t texture_width, texture_height, wrap_s, wrap_t, linear;
    int32_t stages;
    Stage stage[STAGES];
};

struct Plane {
    float base, d1, d2;
    float at(float e1, float e2) const { return base + d1 * e1 + d2 * e2; }
};

struct Triangle {
    int32_t left, right, bottom, top;
    int32_t a[3], b[3];
    int64_t c[3];
    Plane depth, inverse_w, attributes[6];
};

inline int32_t div255(int32_t x) { return (x + 1 + (x >> 8)) >> 8; }

inline int32_t tiled(int32_t x, int32_t y, int32_t width) {
    int32_t inside = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 4) << 2 | (y & 4) << 3;
    return (((y >> 3) * (width >> 3) + (x >> 3)) << 6) + inside;
}

inline bool passes(int32_t function, int32_t incoming, int32_t stored) {
    switch (function) {
    case 0: return false;
    case 1: return true;
    case 2: return incoming == stored;
    case 3: return incoming != stored;
    case 4: return incoming < stored;
    case 5: return incoming <= stored;
    case 6: return incoming > stored;
    default: return incoming >= stored;
    }
}

// -- textures --------------------------------------------------------------------------------------------------------
inline int32_t wrap(int32_t c, int32_t size, int32_t mode) {
    switch (mode) {
    case 0: return min(max(c, 0), size - 1);
    case 3: {
        int32_t m = c & (2 * size - 1);
        return min(m, 2 * size - 1 - m);
    }
    default: return c & (size - 1);
    }
}

inline uint32_t texel(const State& state, const uint32_t* texture, int32_t x, int32_t y) {
    x = wrap(x, state.texture_width, state.wrap_s);
    y = wrap(y, state.texture_height, state.wrap_t);
    return texture[tiled(x, state.texture_height - 1 - y, state.texture_width)];
}

// Two channels at once, as fast emulators do it.
inline uint32_t mix(uint32_t a, uint32_t b, uint32_t f) {
    return ((a * (256 - f) + b * f + 0x00800080) >> 8) & 0x00FF00FF;
}

inline void sample(const State& state, const uint32_t* texture, float u, float v, int32_t* out) {
    uint32_t low, high;
    if (state.linear) {
        int32_t s = (int32_t)std::floor(u * (state.texture_width * 256.0f) - 128.0f);
        int32_t t = (int32_t)std::floor(v * (state.texture_height * 256.0f) - 128.0f);
        uint32_t fs = s & 255, ft = t & 255;
        s >>= 8;
        t >>= 8;
        uint32_t near = texel(state, texture, s, t), right = texel(state, texture, s + 1, t);
        uint32_t up = texel(state, texture, s, t + 1), both = texel(state, texture, s + 1, t + 1);
        const uint32_t even = 0x00FF00FF;
        low = mix(mix(near & even, right & even, fs), mix(up & even, both & even, fs), ft);
        high = mix(mix(near >> 8 & even, right >> 8 & even, fs), mix(up >> 8 & even, both >> 8 & even, fs), ft);
    } else {
        int32_t s = (int32_t)std::floor(u * state.texture_width), t = (int32_t)std::floor(v * state.texture_height);
        uint32_t word = texel(state, texture, s, t);
        low = word & 0x00FF00FF;
        high = word >> 8 & 0x00FF00FF;
    }
    out[0] = high >> 16;
    out[1] = low >> 16;
    out[2] = high & 255;
    out[3] = low & 255;
}

// -- combiners -------------------------------------------------------------------------------------------------------
inline int32_t combine(int32_t op, int32_t a, int32_t b, int32_t c) {
    switch (op) {
    case 0: return a;
    case 1: return div255(a * b);
    case 2: return min(a + b, 255);
    case 3: return min(max(a + b - 128, 0), 255);
    case 4: return div255(a * c + b * (255 - c));
    case 5: return max(a - b, 0);
    case 8: return min(div255(a * b) + c, 255);
    case 9: return div255(min(a + b, 255) * c);
    default: return 0;
    }
}

inline int32_t operand(int32_t code, const int32_t* color, int32_t channel) {
    switch (code >> 1) {
    case 0: break;
    case 1: channel = 3; break;
    case 2: channel = 0; break;
    case 4: channel = 1; break;
    default: channel = 2; break;
    }
    return code & 1 ? 255 - color[channel] : color[channel];
}

inline int32_t alpha_operand(int32_t code, const int32_t* color) {
    static const int32_t channels[4] = {3, 0, 1, 2};
    int32_t value = color[channels[code >> 1]];
    return code & 1 ? 255 - value : value;
}

// -- blending --------------------------------------------------------------------------------------------------------
inline int32_t factor(int32_t code, int32_t channel, const int32_t* s, const int32_t* d) {
    switch (code) {
    case 0: return 0;
    case 2: return s[channel];
    case 3: return 255 - s[channel];
    case 4: return d[channel];
    case 5: return 255 - d[channel];
    case 6: return s[3];
    case 7: return 255 - s[3];
    case 8: return d[3];
    case 9: return 255 - d[3];
    default: return 255;
    }
}

inline int32_t equation(int32_t code, int32_t a, int32_t b) {
    switch (code) {
    case 1: return div255(max(a - b, 0));
    case 2: return div255(max(b - a, 0));
    case 3: return div255(min(a, b));
    case 4: return div255(max(a, b));
    default: return min(div255(a + b), 255);
    }
}

inline void shade(const State& state, const Triangle& t, const uint32_t* texture, float e1, float e2, uint32_t* color,
                  uint32_t* depth) {
    float z = t.depth.at(e1, e2) * state.depth_scale + state.depth_offset;
    int32_t incoming = (int32_t)min(max(z * 16777215.0f, 0.0f), 16777215.0f);
    if (state.depth_test && !passes(state.depth_function, incoming, *depth & 0xFFFFFF)) return;

    float w = 1.0f / t.inverse_w.at(e1, e2);
    int32_t sources[SOURCES][RGBA];
    for (int c = 0; c < RGBA; c++) {
        float value = t.attributes[c].at(e1, e2) * w * 255.0f + 0.5f;
        sources[PREVIOUS][c] = sources[PRIMARY][c] = (int32_t)min(max(value, 0.0f), 255.0f);
    }
    sample(state, texture, t.attributes[4].at(e1, e2) * w, t.attributes[5].at(e1, e2) * w, sources[TEXTURE0]);

    for (int i = 0; i < state.stages; i++) {
        const Stage& stage = state.stage[i];
        for (int c = 0; c < RGBA; c++) sources[CONSTANT][c] = stage.constant[c];
        int32_t result[RGBA];
        for (int c = 0; c < 3; c++) {
            int32_t in[3];
            for (int k = 0; k < 3; k++) in[k] = operand(stage.operand[0][k], sources[stage.source[0][k]], c);
            result[c] = combine(stage.op[0], in[0], in[1], in[2]);
        }
        int32_t in[3];
        for (int k = 0; k < 3; k++) in[k] = alpha_operand(stage.operand[1][k], sources[stage.source[1][k]]);
        result[3] = combine(stage.op[1], in[0], in[1], in[2]);
        for (int c = 0; c < RGBA; c++) sources[PREVIOUS][c] = result[c];
    }

    const int32_t* s = sources[PREVIOUS];
    if (state.alpha_test && !passes(state.alpha_function, s[3], state.alpha_reference)) return;
    if (state.depth_write) *depth = (*depth & 0xFF000000u) | (uint32_t)incoming;
    int32_t out[RGBA] = {s[0], s[1], s[2], s[3]};
    if (state.blend) {
        uint32_t old = *color;
        int32_t d[RGBA] = {(int32_t)(old >> 24), (int32_t)(old >> 16 & 255), (int32_t)(old >> 8 & 255),
                           (int32_t)(old & 255)};
        for (int c = 0; c < RGBA; c++) {
            int part = c == 3;
            out[c] = equation(state.equation[part], s[c] * factor(state.source_factor[part], c, s, d),
                              d[c] * factor(state.target_factor[part], c, s, d));
        }
    }
    *color = (uint32_t)out[0] << 24 | (uint32_t)out[1] << 16 | (uint32_t)out[2] << 8 | (uint32_t)out[3];
}

}  // namespace

extern "C" {

int32_t triangle_size() { return sizeof(Triangle); }

// Vertices in threes become triangles; returns how many have pixels.
int32_t setup(const Vertex* vertices, int32_t count, const State* state, Triangle* out) {
    int32_t made = 0;
    for (int32_t n = 0; n + 3 <= count; n += 3) {
        const Vertex* v[3] = {vertices + n, vertices + n + 1, vertices + n + 2};
        int32_t x[3], y[3];
        for (int i = 0; i < 3; i++) {
            x[i] = (int32_t)std::floor(v[i]->x * 16.0f + 0.5f);
            y[i] = (int32_t)std::floor(v[i]->y * 16.0f + 0.5f);
        }
        int32_t area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        if (area == 0) continue;
        if (area < 0) {
            std::swap(v[1], v[2]);
            std::swap(x[1], x[2]);
            std::swap(y[1], y[2]);
            area = -area;
        }
        Triangle& t = out[made];
        t.left = max((min(min(x[0], x[1]), x[2]) + 7) >> 4, 0);
        t.right = min((max(max(x[0], x[1]), x[2]) - 8) >> 4, state->width - 1);
        t.bottom = max((min(min(y[0], y[1]), y[2]) + 7) >> 4, 0);
        t.top = min((max(max(y[0], y[1]), y[2]) - 8) >> 4, state->height - 1);
        if (t.left > t.right || t.bottom > t.top) continue;

        float scale = 1.0f / (float)area, shifts[3];
        for (int e = 0; e < 3; e++) {
            int i = (e + 1) % 3, j = (e + 2) % 3;
            t.a[e] = y[i] - y[j];
            t.b[e] = x[j] - x[i];
            // A pixel on the edge between two triangles belongs to one of them: left and lower edges own theirs.
            int32_t shift = !(t.a[e] > 0 || (t.a[e] == 0 && t.b[e] > 0));
            shifts[e] = (float)shift * scale;
            t.c[e] = -((int64_t)t.a[e] * x[i] + (int64_t)t.b[e] * y[i]) - shift + t.a[e] * 8 + t.b[e] * 8;
            t.a[e] *= 16;
            t.b[e] *= 16;
        }
        auto plane = [&](float v0, float v1, float v2) {
            float d1 = v1 - v0, d2 = v2 - v0;
            return Plane{v0 + d1 * shifts[1] + d2 * shifts[2], d1 * scale, d2 * scale};
        };
        t.depth = plane(v[0]->depth, v[1]->depth, v[2]->depth);
        t.inverse_w = plane(v[0]->inverse_w, v[1]->inverse_w, v[2]->inverse_w);
        for (int k = 0; k < 6; k++)
            t.attributes[k] = plane(v[0]->attributes[k] * v[0]->inverse_w, v[1]->attributes[k] * v[1]->inverse_w,
                                    v[2]->attributes[k] * v[2]->inverse_w);
        made++;
    }
    return made;
}

// Draws triangles into colour and depth; returns the number of pixels that they cover.
int64_t raster(const Triangle* triangles, int32_t count, const State* state, const uint32_t* texture, uint32_t* color,
               uint32_t* depth) {
    int64_t fragments = 0;
    for (int32_t n = 0; n < count; n++) {
        const Triangle& t = triangles[n];
        for (int32_t y = t.bottom; y <= t.top; y++) {
            int32_t e[3];
            for (int i = 0; i < 3; i++) e[i] = (int32_t)(t.c[i] + (int64_t)t.a[i] * t.left + (int64_t)t.b[i] * y);
            for (int32_t x = t.left; x <= t.right; x++) {
                if ((e[0] | e[1] | e[2]) >= 0) {
                    int32_t at = tiled(x, y, state->width);
                    fragments++;
                    shade(*state, t, texture, (float)e[1], (float)e[2], color + at, depth + at);
                }
                for (int i = 0; i < 3; i++) e[i] += t.a[i];
            }
        }
    }
    return fragments;
}
}
